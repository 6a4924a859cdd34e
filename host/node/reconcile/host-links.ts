// The node's side of pods' links, as their plugins told of it. It says whose namespace lives, and whether hands are on the node at all.

import { isJsonObject } from "../../src/json/document.ts";
import type { JournalEntry } from "../journal/entry.ts";
import { listLinks } from "../netlink/operations.ts";
import type { RoundHands } from "./clean.ts";

/** The node's side of the pod's links, by the results: MAC by name; empty where a plugin says none (Calico). */
export function hostLinksOf(entry: JournalEntry): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const { result = "{}" } of entry.progress) {
    const interfaces = interfacesIn(result);
    for (const { name, mac, sandbox = "" } of interfaces) {
      if (typeof name !== "string" || sandbox !== "") continue;
      links.set(name, typeof mac === "string" ? mac.toLowerCase() : "");
    }
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
 * Why hands that see none of the links of these pods, which live, may not be believed nor sent: they are in another network namespace
 * than the runtime's plugins (a container without the host's network). Undefined: nothing says so.
 */
export async function apartFromNode({ hands }: RoundHands, live: Iterable<JournalEntry>): Promise<string | undefined> {
  const names = new Set([...live].flatMap((entry) => [...hostLinksOf(entry).keys()]));
  if (names.size === 0) return undefined;
  const links = await listLinks(hands, "");
  if (!links.ok) return links.fault.msg;
  if (links.value.some(({ name }) => names.has(name))) return undefined;
  const [one = ""] = names;
  return `the resident hands are in another network namespace than the node's pods are attached to: they see no ${one}`;
}
