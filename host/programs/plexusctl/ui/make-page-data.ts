// Makes the page's data from the daemon's documents and the explanation of the networks. Every list and every text is bounded, because
// users choose names, and plugins choose messages.

import { inertText } from "../../../../src/text/inert-text.ts";
import type { LinkTraffic } from "../../../../src/net/link-traffic.ts";
import type { ExplainedProblem, ExplainedStep, Explanation } from "../../../node/explain/explanation.ts";
import type { RecentCall } from "../../../telemetry/recent-calls-document.ts";
import type { StatusDocument } from "../../../telemetry/status-document.ts";
import { type Recording, withRecordings } from "./recorded-calls.ts";
import type { PageData, PageFault, PagePlugin } from "./page-data.ts";

/** A value, or the reason why it is not known. */
export type Known<T> = { readonly value: T } | { readonly why: string };

/** The documents that the page shows. */
export interface PageSources {
  readonly node: string;
  readonly status: StatusDocument;
  /** The reason why no daemon answered. */
  readonly silent: string | undefined;
  readonly calls: Known<readonly RecentCall[]>;
  /** The latest chain traces. */
  readonly recordings: readonly Recording[];
  readonly explanation: Known<Explanation>;
  /** The traffic of further links; absent: none is counted. */
  readonly traffic?: readonly LinkTraffic[];
}

const maxAttachments = 2000;
const maxNetworks = 500;
const maxPools = 500;
const maxFailures = 50;
const maxCalls = 256;
const maxPlugins = 200;
const maxProblems = 50;
/** Maximum length of a text, in UTF-16 units. */
const maxText = 1024;

/** The page's data. */
export function pageDataOf({ node, status, silent, calls, recordings, explanation, traffic = [] }: PageSources): PageData {
  const { daemon, nodes, failures, time } = status;
  const attachments = nodes.flatMap((each) => each.attachments);
  const urgent = attachments.toSorted((left, right) => urgency(right) - urgency(left));
  const knownCalls = "why" in calls ? [] : calls.value;
  return bounded({
    time,
    node,
    daemon,
    silence: silent ?? null,
    attachments: urgent.slice(0, maxAttachments).map((each) => {
      const rates = traffic.find(({ pod, ifname }) => pod === (each.pod || each.container) && ifname === each.ifname)?.rates;
      return rates === undefined ? each : { ...each, traffic: rates };
    }),
    moreAttachments: Math.max(0, attachments.length - maxAttachments),
    networks: nodes.flatMap((each) => each.networks).slice(0, maxNetworks),
    pools: poolsOf(status).slice(0, maxPools),
    failures: failures.slice(0, maxFailures),
    // Without a daemon the recorded calls are still known.
    calls: "why" in calls && recordings.length === 0 ? null : withRecordings(knownCalls, recordings).slice(0, maxCalls),
    callsUnknown: "why" in calls ? calls.why : null,
    ...("why" in explanation
      ? { plugins: null, pluginsUnknown: explanation.why }
      : { plugins: pluginsOf(explanation.value).slice(0, maxPlugins), pluginsUnknown: null }),
    problems: nodes.flatMap((each) => each.problems).slice(0, maxProblems),
  });
}

function urgency({ failures, state }: { readonly failures: number; readonly state: string }): number {
  return failures > 0 || state === "abandoned" ? 1 : 0;
}

/** The pools of all state directories, each once: several directories of state may share the leases. */
function poolsOf({ nodes }: StatusDocument): PageData["pools"] {
  const pools = new Map(nodes.flatMap((node) => node.pools).map((pool) => [pool.directory, pool]));
  return [...pools.values()];
}

/** The plugins of all networks. Networks that use a plugin with the same grants share one element. */
function pluginsOf({ networks }: Explanation): readonly PagePlugin[] {
  const plugins = new Map<string, PagePlugin>();
  for (const network of networks) {
    for (const step of network.steps.flatMap((each) => [each, ...each.steps])) {
      const plugin = pluginOf(step);
      const key = JSON.stringify(plugin);
      const known = plugins.get(key)?.networks ?? [];
      const name = network.source === "" ? network.name : `${network.name} (${network.source})`;
      plugins.set(key, { ...plugin, networks: [...new Set([...known, name])] });
    }
  }
  const order = { component: 0, missing: 1, native: 2 } as const;
  return [...plugins.values()].toSorted(
    (left, right) => order[left.kind] - order[right.kind] || (left.type < right.type ? -1 : 1),
  );
}

function pluginOf(step: ExplainedStep): Omit<PagePlugin, "networks"> {
  const { type, kind, path, digest, delegate, capabilities, missing, idle, limits, problem } = step;
  return {
    type,
    kind,
    path,
    digest,
    delegate,
    capabilities: capabilities.map(({ name, reason, imported, granted }) => {
      return { name, reason, imported, granted: granted === null ? null : JSON.stringify(granted) };
    }),
    missing,
    idle,
    limits: Object.entries(limits ?? {}).map(([name, value]: [string, number]) => ({ name, value })),
    problem: problem === null ? null : faultOf(problem),
  };
}

function faultOf({ kind, code, msg, remedy }: ExplainedProblem): PageFault {
  return { fault: kind, code, msg, remedy };
}

/** The value with bounded texts that have no control characters. */
function bounded<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) => (typeof each === "string" ? inertText(each, maxText) : each));
}
