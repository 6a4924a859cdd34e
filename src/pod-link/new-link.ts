// The new link of a running pod that an ADD made. A name alone does not tell it: the pod's processes may meanwhile rename that link, and give its name to a link
// of their own. The ADD's answer tells the link; after a failed ADD, the link's other end does, because a pod can make no link to the node.

import type { CniResult } from "../cni/result.ts";
import { sandboxInterfaces } from "../npwg/sandbox-interface.ts";
import { hasName, type ShownLink, isSameLink, type LinkIdentity } from "./link-identity.ts";

/** The facts of an answer about the attachment's link. */
export interface AnsweredInterface {
  readonly ifname: string;
  /** The hardware address in lower case; undefined if the answer has none. */
  readonly mac: string | undefined;
}

/** Maximum names of the node's links that are looked for: a plugin has one or two. */
const maxNodeLinks = 8;

/** The facts of the attachment's link in a plugin's answer. */
export function answeredInterface(result: CniResult, ifname: string): AnsweredInterface {
  const inPod = sandboxInterfaces(result).map((each) => each.interface);
  return { ifname, mac: inPod.find(({ name }) => name === ifname)?.mac?.toLowerCase() };
}

/** The names of the node's links in an answer: the node's end of a veth, the bridge. */
export function nodeLinkNames(result: CniResult): readonly string[] {
  const inPod = new Set(sandboxInterfaces(result).map(({ index }) => index));
  const names = result.interfaces.filter((_, index) => !inPod.has(index)).map(({ name }) => name);
  return [...new Set(names)].slice(0, maxNodeLinks);
}

/**
 * The attachment's link among the pod's new `links`; undefined if none is known to be it. `nodeLinks`: the links of `nodeLinkNames`. The node's end of a veth
 * decides, because the pod cannot change it; then the hardware address. A name counts only for a link that has no other sign against it.
 */
export function answeredLink<Link extends ShownLink>(
  links: readonly Link[],
  { ifname, mac }: AnsweredInterface,
  nodeLinks: readonly ShownLink[],
): Link | undefined {
  const ends = nodeLinks.filter(({ kind, linkNamespace }) => kind === "veth" && linkNamespace !== undefined);
  if (ends.length > 0) return links.find((link) => ends.some((end) => areEnds(link, end)));
  const named = links.find((link) => hasName(link, ifname));
  if (mac === undefined) return named;
  const same = links.filter((link) => link.mac === mac);
  if (same.length > 0) return same.find((link) => hasName(link, ifname)) ?? same[0];
  // The pod may have changed the address, and a plugin may print another one.
  return links.length === 1 || (named !== undefined && reachesOutside(named)) ? named : undefined;
}

/** Whether both are the ends of one veth, in two namespaces. */
function areEnds(inPod: ShownLink, onNode: ShownLink): boolean {
  const reachOther = [inPod, onNode].every(({ kind, linkNamespace }) => kind === "veth" && linkNamespace !== undefined);
  return reachOther && inPod.index === onNode.link && inPod.link === onNode.index;
}

/** Whether the link has its other end or its lower link in another namespace, or is hardware: a pod's own links mostly have neither. */
function reachesOutside({ linkNamespace, parentDevice }: ShownLink): boolean {
  return linkNamespace !== undefined || parentDevice !== undefined;
}

/** The facts around a failed ADD. */
export interface FailedAdd {
  readonly ifname: string;
  /** The pod's links now. */
  readonly links: readonly ShownLink[];
  /** The links that were not there before the ADD. */
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
    return ofNode.has(link.linkNamespace) || nodeLinks.some((end) => areEnds(link, end));
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
