// The members of a VRF or a bond of the pod, which a delegate reads to learn whether its own link is the last one.

import { ENODEV } from "../../system/errno.ts";
import { portsRequest } from "../../system/netlink/link-change.ts";
import { type LinkState, linkStatesIn } from "../../system/netlink/link-state.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { EffectQueue } from "./effect-queue.ts";

const kindsWithMembers: ReadonlySet<string> = new Set(["vrf", "bond"]);

/** The names of the members of each link, by its index; a link of the node, and one of another kind, is not there. */
export async function readMembers(
  effects: EffectQueue,
  links: readonly { readonly place: LinksPlace; readonly state: LinkState }[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const masters = links.filter(({ place, state }) => place === "pod" && kindsWithMembers.has(state.kind));
  if (masters.length === 0) return new Map();
  const answers = masters.map(({ state }) => ({
    index: state.index,
    answer: effects.send("pod", {
      request: portsRequest(state.index),
      action: "listing the members",
      ignoredErrnos: [ENODEV],
      ignoresMissingNamespace: true,
    }),
  }));
  await effects.flush();
  const found = new Map<number, readonly string[]>();
  for (const { index, answer } of answers) {
    const states = linkStatesIn(await answer);
    // A kernel that does not filter the dump sends all links.
    found.set(
      index,
      states.filter(({ master }) => master === index).map(({ name }) => name),
    );
  }
  return found;
}
