// Looks for the node's links that living attachments need.

import { lostLinks } from "../../../src/reconcile/lost-links.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import { fileNameOf } from "../../store/journal/entry-file.ts";
import { lookIntoNamespace } from "../../system/netlink/namespace-links.ts";
import type { ListedEntry } from "./entry-list.ts";
import { hostLinksIn } from "./host-links.ts";

/** An attachment that has lost links, and their names. */
export interface LostLinks {
  /** The entry's name and the interface. */
  readonly id: string;
  readonly note: string;
}

/** The attachments of these entries that lack a link of the node; none if the node's links cannot be listed. */
export async function lostLinksOf(shim: NetlinkSender, live: readonly ListedEntry[]): Promise<readonly LostLinks[]> {
  if (!live.some(({ entry }) => entry.pod?.made !== undefined)) return [];
  const seen = await lookIntoNamespace(shim, "");
  if (!seen.ok || seen.value === "gone") return [];
  const { links } = seen.value;
  return live.flatMap(({ key, entry: { plan, progress, pod } }) =>
    plan.attachments.flatMap(({ ifname, source }, index): readonly LostLinks[] => {
      const state = progress[index];
      if (state?.result === undefined || state.undone || state.detaching === true) return [];
      const nodeLinks = [...hostLinksIn(state).keys()].filter((name) => name !== ifname);
      const made = pod?.made?.find(({ name }) => name === ifname);
      const lost = lostLinks({ made, nodeLinks }, links);
      return lost.length === 0
        ? []
        : [{ id: `${fileNameOf(key)} ${ifname}`, note: `network ${source} as ${ifname}: ${lost.join(", ")}` }];
    }),
  );
}
