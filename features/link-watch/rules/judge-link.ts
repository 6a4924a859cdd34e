// Whether an attachment's link is as its ADD left it, by the pod's end and the node's end of it.

import { hasName, isSameLink, type LinkIdentity, type ShownLink } from "../../../src/pod-link/link-identity.ts";

/** The faults of a link, the worst first. */
export const linkFaults = ["gone", "master", "down", "no-carrier", "mac", "address"] as const;

/** A fault of a link. */
export type LinkFaultKind = (typeof linkFaults)[number];

/** A fault, and a sentence about it. */
export interface LinkFault {
  readonly kind: LinkFaultKind;
  readonly why: string;
  /** Whether attaching again may mend it: the link is the attachment's own, and its name is free. */
  readonly mayRepair: boolean;
}

/** An attachment's link as its ADD left it. */
export interface ExpectedLink {
  readonly ifname: string;
  /** Undefined: the journal does not know the link's index, so the name alone decides. */
  readonly made: LinkIdentity | undefined;
  /** The addresses of the attachment's interface in its result, with prefix lengths, in canonical text. */
  readonly addresses: readonly string[];
}

/** A link as the kernel shows it now. */
export interface SeenLink extends ShownLink {
  readonly up: boolean;
  readonly carrier: boolean;
  readonly master: number | undefined;
  /** The kind of its master: `bridge`, `bond`, `vrf`; empty without one. */
  readonly masterKind: string;
}

/** The pod's end: the links of the attachments and those with their names. */
export interface SeenPod {
  readonly links: readonly SeenLink[];
  /** The addresses of the links, by their index. */
  readonly addresses: ReadonlyMap<number, readonly string[]>;
}

/** The node's end of a veth, and its master. Undefined members do not exist. */
export interface SeenNodeEnd {
  readonly link: SeenLink | undefined;
  /** The name of its bridge or other master. */
  readonly master: string | undefined;
  /** The name of the master that it had, or that the ADD's result names; undefined: it needs none. */
  readonly expectedMaster: string | undefined;
}

/** Kinds of links that have the hardware address of a link below them, whatever that becomes. */
const followingKinds: ReadonlySet<string> = new Set(["bond", "ipvlan", "vlan"]);

/** The fault of an attachment's link; undefined: none. `node`: undefined if the link has no end on the node. */
export function judgeLink(
  { ifname, made, addresses }: ExpectedLink,
  pod: SeenPod,
  node: SeenNodeEnd | undefined,
): LinkFault | undefined {
  const named = pod.links.find((link) => hasName(link, ifname));
  const link = made === undefined ? named : pod.links.find((each) => isSameLink(made, each));
  // Another link has the name: the pod or KubeVirt has made it.
  const isFree = named === undefined || named === link;
  const isRenamed = link !== undefined && link.name !== ifname;
  // The pod, or the plugin bond, has made it a member of another link, which has its addresses now. Attaching again would take it from there.
  const isMember = link?.master !== undefined && link.masterKind !== "vrf";
  const of = (kind: LinkFaultKind, why: string): LinkFault => ({
    kind,
    why,
    mayRepair: isFree && !isRenamed && !isMember && kind !== "no-carrier",
  });
  if (link === undefined)
    return isElsewhere(made, node?.link) ? undefined : of("gone", `${ifname} no longer exists in the pod's network namespace`);
  const shown = isRenamed ? `${ifname} (${link.name} now)` : ifname;
  const ofNode = node?.link === undefined ? undefined : nodeFault(shown, node.link.name, node);
  if (ofNode !== undefined) return of(ofNode.kind, ofNode.why);
  // The pod, or KubeVirt, uses a renamed link in its own way.
  if (isRenamed || made === undefined) return undefined;
  if (!link.up) return of("down", `${ifname} was set down`);
  // A tap's carrier is the process that has opened it, such as a virtual machine.
  if (!link.carrier && link.kind !== "tun") return of("no-carrier", `${ifname} has no carrier: the link below it is down`);
  if (isMember) return undefined;
  if (!followingKinds.has(link.kind) && made.mac !== "" && link.mac !== made.mac)
    return of("mac", `${ifname} has the hardware address ${link.mac} instead of ${made.mac}`);
  const held = pod.addresses.get(link.index) ?? [];
  const lost = addresses.filter((each) => !held.includes(each));
  return lost.length === 0 ? undefined : of("address", `${ifname} has lost ${lost.join(" and ")}`);
}

/** A veth whose end was moved to a namespace within the pod still has its other end on the node. */
function isElsewhere(made: LinkIdentity | undefined, end: SeenLink | undefined): boolean {
  return made?.kind === "veth" && end?.kind === "veth" && end.link === made.index && end.linkNamespace !== undefined;
}

function nodeFault(
  shown: string,
  end: string,
  { link, master, expectedMaster }: SeenNodeEnd,
): Pick<LinkFault, "kind" | "why"> | undefined {
  if (expectedMaster !== undefined && master !== expectedMaster) {
    const now = master === undefined ? "none" : master;
    return { kind: "master", why: `${shown}: its end ${end} on the node has lost its master ${expectedMaster} (now ${now})` };
  }
  return link?.up === false ? { kind: "down", why: `${shown}: its end ${end} on the node was set down` } : undefined;
}
