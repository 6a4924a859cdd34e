// Finds the node's links that a living attachment needs and that are gone: its veth's end, the link below it, its bridge. The pod has no network then.

import type { LinkIdentity, ShownLink } from "../pod-link/link-identity.ts";

/** A link of the node. */
export interface NodeLink extends ShownLink {
  readonly alternativeNames: readonly string[];
  /** The index of its bridge. */
  readonly master: number | undefined;
}

/** An attachment of a living pod. */
export interface NeedingAttachment {
  /** The pod's link, as its ADD left it; undefined if that is unknown. */
  readonly made: LinkIdentity | undefined;
  /** The names of the node's links in its result. */
  readonly nodeLinks: readonly string[];
}

/** The lost links as phrases; empty if none is lost, or if nothing is known. `links`: all links of the node. */
export function lostLinks({ made, nodeLinks }: NeedingAttachment, links: readonly NodeLink[]): readonly string[] {
  if (made?.peer === undefined) return [];
  const other = links.find(({ index }) => index === made.peer);
  const named = nodeLinks.map((name) => ({
    name,
    link: links.find((each) => each.name === name || each.alternativeNames.includes(name)),
  }));
  const missing = named.filter(({ link }) => link === undefined).map(({ name }) => `link ${name} of the node is gone`);
  if (made.kind !== "veth") return other === undefined ? [`the node's link ${made.peer} below it is gone`, ...missing] : missing;
  // A veth between two pods has no end on the node.
  if (nodeLinks.length === 0) return [];
  if (other?.kind !== "veth") return missing.length > 0 ? missing : [`its veth's end on the node (link ${made.peer}) is gone`];
  const bridge = named.find(({ link }) => link?.kind === "bridge")?.link;
  const isPort = bridge === undefined || other.master === bridge.index;
  return isPort ? missing : [...missing, `${other.name} is no port of bridge ${bridge.name}`];
}
