// Whose rules a chain has, as its name says it: `ports/portmap/pods/0c5f…/eth0`. nft prints such names, and reads them.

import { sha512 } from "./sha512.ts";

/** A delegate's rules for an attachment. */
export interface Owner {
  /** The delegate's type. */
  readonly type: string;
  readonly network: string;
  readonly containerId: string;
  readonly ifname: string;
}

/** What a chain of an attachment does: changes destinations; masquerades what was sent to its ports; masquerades what it sends. */
export type Purpose = "ports" | "answers" | "source";

export const purposes: readonly Purpose[] = ["ports", "answers", "source"];

/** nft has no other characters in names, the kernel no longer names than 255 bytes. */
const PLAIN = /^[a-zA-Z0-9_.-]+\/[a-zA-Z0-9_.-]+$/;
const PART_MAX = 100;
/** Of hexadecimal digits. */
const HASH_LENGTH = 40;

/** The name of the owner's chain for a purpose. */
export function chainName(purpose: Purpose, owner: Owner): string {
  return `${prefixOf(purpose, owner)}${attachmentPart(owner)}`;
}

/** What the names of all chains of a delegate, a network and a purpose begin with; then comes the attachment's part. */
export function prefixOf(purpose: Purpose, { type, network }: Pick<Owner, "type" | "network">): string {
  return `${purpose}/${part(type, network)}/`;
}

export function attachmentPart({ containerId, ifname }: Pick<Owner, "containerId" | "ifname">): string {
  return part(containerId, ifname);
}

/** Who a chain's name says that it belongs to, for people. */
export function ownerInWords(chain: string): string {
  const [, type, network, containerId, ifname, ...more] = chain.split("/");
  if (ifname === undefined || more.length > 0) return `whoever has the chain ${chain}`;
  return `${containerId}/${ifname} of the network ${network} (${type})`;
}

/** A hash, which has no slash, stands for what is too long or has characters that nft does not take. */
function part(one: string, other: string): string {
  const plain = `${one}/${other}`;
  return plain.length <= PART_MAX && PLAIN.test(plain) ? plain : sha512(plain).slice(0, HASH_LENGTH);
}
