// The requests to the capability `shaping` that a call may make. The node and the kit for authors have the same rules. No I/O.

import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { type Cidr, networkOf, readCidr } from "../../../src/net/ip.ts";
import type { ShapingBucket, ShapingShape } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { misuseOf } from "../outcome.ts";
import { type VerbCall, verbRules } from "../verb-rules.ts";

/** The call that makes the request. */
export type ShapingCall = VerbCall;

/** A shape whose networks are decoded. */
export interface Shape extends Pick<ShapingShape, "ingress" | "egress"> {
  readonly networks: readonly Cidr[];
  /** `all`: no networks are listed. `listed`: the traffic with the listed ones is bounded. `others`: the traffic with all others. */
  readonly bounded: "all" | "listed" | "others";
}

/** Maximum number of networks: each packet is compared with all of them. */
export const maxNetworks = 64;
/** The kernel keeps a bucket's size in bytes as a number of 32 bits. */
const maxBurst = 8 * 0xffff_ffff;

export const misused = misuseOf("shaping");

/** The rules about verbs. */
export const { attachmentIn, retainDenial } = verbRules(misused);

/** The fault of a shape for an attachment whose interface has no end on the node. */
export function noNodeLink(ifname: string): Fault {
  return misused(
    `interface ${ifname} of the pod is not a veth with its other end on the node, so its traffic cannot be bounded there`,
  );
}

/** The shape, decoded. Fault: CAPABILITY_MISUSED. */
export function readShape({ ingress, egress, networks, exempt }: ShapingShape): Result<Shape> {
  for (const [direction, bucket] of [["ingress", ingress] as const, ["egress", egress] as const]) {
    const mistake = bucket === undefined ? undefined : bucketMistake(bucket);
    if (mistake !== undefined) return failed(misused(`${direction}: ${mistake}`));
  }
  if (networks.length > 0 && exempt.length > 0)
    return failed(misused("networks that alone are bounded and networks that are exempt exclude each other"));
  const texts = networks.length > 0 ? networks : exempt;
  if (texts.length > maxNetworks) return failed(misused(`${texts.length} networks; the maximum is ${maxNetworks}`));
  const read: Cidr[] = [];
  for (const text of texts) {
    const cidr = readCidr(text);
    if (cidr === undefined) return failed(misused(`${quote(text, 60)} is not an IP address with a prefix length`));
    read.push({ address: networkOf(cidr).first, prefix: cidr.prefix });
  }
  return ok({ ingress, egress, networks: read, bounded: texts.length === 0 ? "all" : networks.length > 0 ? "listed" : "others" });
}

function bucketMistake({ rate, burst }: ShapingBucket): string | undefined {
  if (rate < 8 || burst < 8) return "rate and burst are at least 8 bits";
  return burst > maxBurst ? `the burst exceeds ${maxBurst} bits` : undefined;
}
