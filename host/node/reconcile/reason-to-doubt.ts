// A second look at a network namespace whose path is gone: the namespace may still exist under another path.

import { lookAtNamespace } from "../../protocol/look-at-namespace.ts";
import type { AgentEffects } from "../../protocol/shim.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import { sameKey } from "../../store/journal/entry-file.ts";
import { listLinks } from "../../system/netlink/operations.ts";
import type { ListedEntry } from "./entry-list.ts";
import { hostLinksOf } from "./host-links.ts";

/**
 * The reason why the entry's network namespace may still exist although its path is gone; undefined without one. The kernel removes both ends
 * of a veth together. So if the host still has a veth of the result, its peer's namespace exists.
 */
export async function reasonToDoubt(
  shim: AgentEffects,
  entry: JournalEntry,
  listEntries: () => Promise<readonly ListedEntry[]>,
): Promise<string | undefined> {
  const { netns } = entry.plan;
  if (netns !== "" && (await lookAtNamespace(shim, netns)) !== "gone") return `${netns} exists again`;
  const wanted = hostLinksOf(entry);
  if (wanted.size === 0) return undefined;
  const links = await listLinks(shim, "");
  if (!links.ok) return links.fault.msg;
  // The name suffices, unless another entry has the same name (plugins may derive it from the pod's name): then the MAC must agree, too.
  // The MAC is not always required, because udev may change it just after the plugin's answer.
  const entries = (await listEntries()).filter(({ key }) => !sameKey(key, entry.plan));
  const others = new Set(entries.flatMap((listed) => [...hostLinksOf(listed.entry).keys()]));
  const alive = links.value.find(
    ({ name, kind, mac }) => kind === "veth" && wanted.has(name) && (wanted.get(name) === mac || !others.has(name)),
  );
  return alive === undefined
    ? undefined
    : `${netns} is gone, but the namespace still exists: the host has its veth ${alive.name}`;
}
