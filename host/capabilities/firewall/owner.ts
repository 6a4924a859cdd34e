// The owner of a chain, encoded in its name: `ports/portmap/pods/0c5f…/eth0`. nft prints such names, and accepts them.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import type { Result } from "../../../src/fault/result.ts";
import { refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { sha512 } from "./sha512.ts";

/** A delegate in one network, whose rules of all attachments a GC looks at. */
export interface NetworkDelegate {
  /** The delegate's type. */
  readonly type: string;
  readonly network: string;
}

/** A delegate and an attachment whose rules a chain has. */
export interface Owner extends NetworkDelegate, AttachmentId {}

/** Answers a request for the call's attachment as the owner of its rules or devices. `attachment`: a fault if the call's verb forbids the request. */
export async function forOwner<T>(
  { type, network }: NetworkDelegate,
  attachment: Result<AttachmentId>,
  run: (owner: Owner) => Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  if (!attachment.ok) return refuse(attachment.fault);
  const { containerId, ifname } = attachment.value;
  return witOutcome(await run({ type, network, containerId, ifname }));
}

/** The purpose of a chain: `ports` changes destinations, `answers` masquerades connections to mapped ports, `source` masquerades the pod's connections. */
export type Purpose = "ports" | "answers" | "source";

export const purposes: readonly Purpose[] = ["ports", "answers", "source"];

/** The characters that nft accepts in names. The kernel accepts names of at most 255 bytes. */
const PLAIN = /^[a-zA-Z0-9_.-]+\/[a-zA-Z0-9_.-]+$/;
const PART_MAX = 100;
/** In hexadecimal digits. */
const HASH_LENGTH = 40;
const HASH = /^[0-9a-f]{40}$/;

/** The name of the owner's chain for a purpose. */
export function chainName(purpose: string, owner: Owner): string {
  return `${prefixOf(purpose, owner)}${attachmentPart(owner)}`;
}

/** The common prefix of the chain names of a delegate, a network and a purpose. The attachment's part follows. */
export function prefixOf(purpose: string, { type, network }: NetworkDelegate): string {
  return `${purpose}/${part(type, network)}/`;
}

/** The attachment's part of its chain names. */
export function attachmentPart({ containerId, ifname }: AttachmentId): string {
  return part(containerId, ifname);
}

/** The owner that a chain's name shows, for messages. */
export function ownerText(chain: string): string {
  const [, type, network, containerId, ifname, ...more] = chain.split("/");
  if (ifname === undefined || more.length > 0) return `the owner of the chain ${chain}`;
  return `${containerId}/${ifname} of the network ${network} (${type})`;
}

/** The container of a chain's attachment; undefined where the chain's name has only a hash of it. */
export function containerOf(chain: string): string | undefined {
  const parts = chain.split("/").slice(1);
  const attachment = parts.length === 4 || (parts.length === 3 && HASH.test(parts[0] ?? "")) ? parts.slice(-2) : [];
  const [container, ifname = ""] = attachment;
  // An interface's name has at most 15 characters: a longer part is a hash.
  return HASH.test(ifname) ? undefined : container;
}

/** Two names joined by a slash; a hash of them where they are too long or have characters that nft refuses. */
function part(first: string, second: string): string {
  const plain = `${first}/${second}`;
  return plain.length <= PART_MAX && PLAIN.test(plain) ? plain : sha512(plain).slice(0, HASH_LENGTH);
}
