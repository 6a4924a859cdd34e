// What is told of one journal entry: its attachments, its networks' chains and pools. Made once for each version of the file.

import { isJsonObject } from "../../src/json/document.ts";
import { callArgs } from "../brain/pod-identity.ts";
import type { JournalEntry, PlannedAttachment } from "../journal/entry.ts";
import { inertLine } from "../sandbox/inert-text.ts";
import { harmlessMessage } from "../telemetry/harmless.ts";
import { poolsOf, type PoolConfiguration } from "./address-pools.ts";
import type { AttachmentState, NetworkState } from "./node-state.ts";

export interface EntrySummary {
  readonly attachments: readonly AttachmentState[];
  readonly networks: readonly Omit<NetworkState, "attachments">[];
  readonly pools: readonly PoolConfiguration[];
}

const longestName = 253;
const name = (text: string): string => inertLine(text, longestName);

export function summaryOf(entry: JournalEntry, text: string, leftBehind: boolean): EntrySummary {
  const { plan, progress, failures } = entry;
  const args = new Map(callArgs(plan.cniArgs));
  const [namespace, pod] = [args.get("K8S_POD_NAMESPACE") ?? "", args.get("K8S_POD_NAME") ?? ""];
  const why = failures.count === 0 ? undefined : lastReason(text);
  const attachments = plan.attachments.map((planned, index): AttachmentState => {
    const { attempted = false, result, undone = false } = progress[index] ?? {};
    const unfinished = plan.assumed === true ? "unknown" : attempted ? "attaching" : "not begun";
    const begun = result === undefined ? unfinished : "attached";
    return {
      pod: namespace === "" || pod === "" ? "" : name(`${namespace}/${pod}`),
      container: name(plan.containerId),
      ifname: name(planned.ifname),
      network: name(planned.network),
      source: name(planned.source),
      addresses: addressesOf(result),
      state: undone ? "detached" : leftBehind ? "left behind" : begun,
      since: plan.begun === undefined ? undefined : name(plan.begun),
      failures: failures.count,
      why,
    };
  });
  return {
    attachments,
    networks: plan.attachments.map((planned) => ({
      name: name(planned.network),
      source: name(planned.source),
      chain: chainOf(planned),
    })),
    pools: plan.attachments.flatMap(({ network, conflist }) => poolsOf(network, conflist)),
  };
}

function chainOf({ conflist }: PlannedAttachment): readonly string[] {
  const list = parsed(conflist);
  const plugins: unknown = isJsonObject(list) ? list["plugins"] : undefined;
  if (!Array.isArray(plugins)) return [];
  return plugins.filter(isJsonObject).map(({ type, ipam }) => {
    const ipamType = isJsonObject(ipam) && typeof ipam["type"] === "string" ? `/${ipam["type"]}` : "";
    return name(`${typeof type === "string" ? type : "?"}${ipamType}`);
  });
}

function addressesOf(result: string | undefined): readonly string[] {
  const value = result === undefined ? undefined : parsed(result);
  if (!isJsonObject(value)) return [];
  // Version 0.2.0 has one of each family instead of a list.
  const old = [value["ip4"], value["ip6"]].filter(isJsonObject).map(({ ip }) => ip);
  const ips: unknown = value["ips"];
  const list = Array.isArray(ips) ? ips.filter(isJsonObject).map(({ address }) => address) : [];
  return [...list, ...old].filter((each) => typeof each === "string").map(name);
}

/** Of the last DEL that failed. */
function lastReason(text: string): string | undefined {
  const line = text.split("\n").findLast((each) => each.startsWith('{"failed"'));
  const record = line === undefined ? undefined : parsed(line);
  return isJsonObject(record) && typeof record["why"] === "string" ? harmlessMessage(record["why"]) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
