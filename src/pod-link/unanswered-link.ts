// Which of a running pod's new links a failed ADD has left. No answer tells the link, and the pod may have renamed it: what the link reaches tells it, because
// a pod can make no link to the node.

import { hasName, isSameLink, type LinkIdentity, type ShownLink } from "./link-identity.ts";

/** The facts around a failed ADD. */
export interface FailedAdd {
  readonly ifname: string;
  /** The pod's links now. */
  readonly links: readonly ShownLink[];
  /** Those that were not there before the ADD. */
  readonly fresh: readonly ShownLink[];
  /** The links of the pod's earlier ADDs. */
  readonly made: readonly LinkIdentity[];
}

/**
 * The link of the failed ADD; undefined if none is known to be it. `nodeLinks`: the node's links with the indexes of `otherEnds`. Of several new links the one
 * with the attachment's name counts; without such a link none does.
 */
export function unansweredLink<Link extends ShownLink>(
  { ifname, links, fresh, made }: Omit<FailedAdd, "fresh"> & { readonly fresh: readonly Link[] },
  nodeLinks: readonly ShownLink[],
): Link | undefined {
  // The ids of namespaces hold for all links of the pod: an earlier ADD's link shows the node's.
  const ofNode = new Set(
    links.flatMap((link) =>
      made.some((each) => isSameLink(each, link) && each.peer !== undefined && each.peer === link.link)
        ? (link.linkNamespace ?? [])
        : [],
    ),
  );
  const reaching = fresh.filter((link) => {
    if (link.parentDevice !== undefined) return true;
    if (link.linkNamespace === undefined) return false;
    return ofNode.has(link.linkNamespace) || nodeLinks.some((end) => isOtherEnd(link, end));
  });
  return reaching.find((link) => hasName(link, ifname)) ?? (reaching.length === 1 ? reaching[0] : undefined);
}

/** Maximum links whose other ends are looked for: a pod makes as many links as it likes. */
const maxEnds = 64;

/** The indexes that other ends of these links have on the node, if they are there. */
export function otherEnds(links: readonly ShownLink[]): readonly number[] {
  const veths = links.filter(({ kind, linkNamespace }) => kind === "veth" && linkNamespace !== undefined);
  return veths.flatMap(({ link }) => link ?? []).slice(0, maxEnds);
}

function isOtherEnd({ kind, index, link }: ShownLink, end: ShownLink): boolean {
  return kind === "veth" && end.kind === "veth" && end.index === link && end.link === index && end.linkNamespace !== undefined;
}
