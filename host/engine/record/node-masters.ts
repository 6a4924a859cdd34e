// The masters of veths' ends on the node, as an ADD leaves them. A daemon that starts later would not tell an end that has lost its master from one that never had any.

import type { LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import type { WantedLinks } from "../../system/netlink/namespace-links.ts";

/** Finds links of the node; those that are not there are left out. */
export type FindNodeLinks = (wanted: WantedLinks) => Promise<readonly Pick<LinkState, "index" | "name" | "master">[]>;

/** The links, each veth with the name of its other end's master. */
export async function withNodeMasters(links: readonly LinkIdentity[], find: FindNodeLinks): Promise<readonly LinkIdentity[]> {
  const peers = links.flatMap((link) => peerOf(link) ?? []);
  const ends = await find({ indexes: peers, names: [] });
  const masters = new Map(ends.map(({ index, master }) => [index, master]));
  const indexes = [...new Set([...masters.values()].filter((each) => each !== undefined))];
  const names = new Map((await find({ indexes, names: [] })).map(({ index, name }) => [index, name]));
  return links.map((link) => {
    const master = masters.get(peerOf(link) ?? 0);
    const nodeMaster = master === undefined ? undefined : names.get(master);
    return nodeMaster === undefined ? link : { ...link, nodeMaster };
  });
}

/** The index of a veth's other end. Other kinds of links have the index of a lower link there. */
function peerOf({ kind, peer }: LinkIdentity): number | undefined {
  return kind === "veth" ? peer : undefined;
}
