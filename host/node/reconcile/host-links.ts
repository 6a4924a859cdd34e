// The host interfaces of pods, from the plugins' results. They show whether a pod's network namespace still exists, and whether the agent
// runs in the node's network namespace.

import { isJsonObject } from "../../../src/json/document.ts";
import type { AttachmentProgress, JournalEntry } from "../../store/journal/entry.ts";
import { listLinks } from "../../system/netlink/operations.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";

/** The pod's host interfaces in its results: a map from name to MAC. The MAC is empty if the plugin reports none, as Calico does. */
export function hostLinksOf(entry: JournalEntry): ReadonlyMap<string, string> {
  return new Map(entry.progress.flatMap((each) => [...hostLinksIn(each)]));
}

/** As `hostLinksOf`, of one attachment. */
export function hostLinksIn({ result = "{}" }: AttachmentProgress): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const { name, mac, sandbox = "" } of interfacesIn(result)) {
    if (typeof name !== "string" || sandbox !== "") continue;
    links.set(name, typeof mac === "string" ? mac.toLowerCase() : "");
  }
  return links;
}

function interfacesIn(result: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    const value: unknown = JSON.parse(result);
    const interfaces = isJsonObject(value) ? value["interfaces"] : undefined;
    return Array.isArray(interfaces) ? interfaces.filter(isJsonObject) : [];
  } catch {
    return [];
  }
}

/**
 * Why the agent seems to run in another network namespace than the runtime's plugins (such as a container without the host's network): it
 * sees no host interface of these live pods. Undefined if nothing suggests that.
 */
export async function outsideNodeNamespace(shim: NetlinkSender, live: Iterable<JournalEntry>): Promise<string | undefined> {
  const names = new Set([...live].flatMap((entry) => [...hostLinksOf(entry).keys()]));
  if (names.size === 0) return undefined;
  const links = await listLinks(shim, "");
  if (!links.ok) return links.fault.msg;
  if (links.value.some(({ name }) => names.has(name))) return undefined;
  const [example = ""] = names;
  return `the agent runs in another network namespace than the runtime: it does not see host interface ${example}`;
}
