// The summary of one journal entry for the node's state: its attachments, networks and pools. Made once for each version of the file.

import { splitCniArgs } from "../../../src/cni/environment.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { harmlessMessage, inertLine } from "../../../src/text/inert-text.ts";
import type { JournalEntry, PlannedAttachment } from "../../store/journal/entry.ts";
import { poolsOf, type PoolConfiguration } from "./address-pools.ts";
import { linksOf } from "./network-links.ts";
import type { AttachmentState, NetworkState } from "./node-state.ts";

/** The summary of one entry. */
export interface EntrySummary {
  readonly attachments: readonly AttachmentState[];
  readonly networks: readonly SummarizedNetwork[];
}

/** A network of an entry, with the configuration of its pools. */
export interface SummarizedNetwork extends Omit<NetworkState, "attachments" | "pools"> {
  readonly pools: readonly PoolConfiguration[];
}

const maxName = 253;
const name = (text: string): string => inertLine(text, maxName);

/** Summarizes an entry; `text` is its file's content. `abandoned`: the entry is the record of an abandoned attachment. */
export function summaryOf(entry: JournalEntry, text: string, abandoned: boolean): EntrySummary {
  const { plan, progress, failures } = entry;
  const args = new Map(splitCniArgs(plan.cniArgs));
  const [namespace, pod] = [args.get("K8S_POD_NAMESPACE") ?? "", args.get("K8S_POD_NAME") ?? ""];
  const why = failures.count === 0 ? undefined : lastError(text);
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
      state: undone ? "detached" : abandoned ? "abandoned" : begun,
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
      links: linksOf(planned.conflist),
      pools: poolsOf(planned.network, planned.conflist),
    })),
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
  // Results of CNI 0.2.0 have ip4 and ip6 instead of a list.
  const legacy = [value["ip4"], value["ip6"]].filter(isJsonObject).map(({ ip }) => ip);
  const ips: unknown = value["ips"];
  const list = Array.isArray(ips) ? ips.filter(isJsonObject).map(({ address }) => address) : [];
  return [...list, ...legacy].filter((each) => typeof each === "string").map(name);
}

/** The error of the last failed DEL. */
function lastError(text: string): string | undefined {
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
