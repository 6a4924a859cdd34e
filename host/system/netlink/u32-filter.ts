// Filters of kind `u32` (linux/pkt_cls.h): the redirection of all packets to a device, and networks that lead to a class. No I/O.

import type { Cidr } from "../../../src/net/ip.ts";
import { attribute, type Attributes, nested, u32Attribute, type NetlinkRequest } from "./message.ts";
import { addressBytes, concat, cString, putU32, u32, u32At } from "./bytes.ts";
import { ROOT_HANDLE } from "./token-bucket.ts";
import { handle, INGRESS_HANDLE, newFilter } from "./traffic-control.ts";

const TCA_U32_CLASSID = 1;
const TCA_U32_SEL = 5;
const TCA_U32_ACT = 7;
const TC_U32_TERMINAL = 1;
const TCA_ACT_KIND = 1;
const TCA_ACT_OPTIONS = 2;
const TCA_MIRRED_PARMS = 2;
const TCA_EGRESS_REDIR = 1;
const TC_ACT_STOLEN = 4;
const ETH_P_ALL = 0x0003;
const ETH_P = { 4: 0x0800, 6: 0x86dd } as const;
/** One priority has filters of one protocol. */
const priorities = { 4: 16, 6: 15 } as const;
/** Offsets of the addresses in the IP header, in bytes. */
const offsets = { 4: { source: 12, destination: 16 }, 6: { source: 8, destination: 24 } } as const;
const SELECTOR = 16;
const KEY = 16;

/** Leads all packets that come in through a link to another link's egress. */
export function newRedirection(link: number, target: number): NetlinkRequest {
  // index, capab, action, refcnt, bindcnt, eaction, ifindex
  const mirror = concat([u32(0), u32(0), u32(TC_ACT_STOLEN), u32(0), u32(0), u32(TCA_EGRESS_REDIR), u32(target)]);
  const options = nested(TCA_ACT_OPTIONS, [attribute(TCA_MIRRED_PARMS, mirror)]);
  const action = nested(1, [attribute(TCA_ACT_KIND, cString("mirred")), options]);
  return newFilter(link, { parent: INGRESS_HANDLE, priority: 1, protocol: ETH_P_ALL }, "u32", [
    u32Attribute(TCA_U32_CLASSID, handle(1, 1)),
    attribute(TCA_U32_SEL, selector([{ mask: new Uint8Array(4), value: new Uint8Array(4), offset: 0 }])),
    nested(TCA_U32_ACT, [action]),
  ]);
}

/** The index of the link to which a filter leads packets; undefined without such an action. */
export function redirectionIn(options: Attributes): number | undefined {
  const action = options.within(TCA_U32_ACT).within(1);
  const mirror = action.within(TCA_ACT_OPTIONS).get(TCA_MIRRED_PARMS);
  return action.text(TCA_ACT_KIND) === "mirred" && mirror !== undefined ? u32At(mirror, 24) : undefined;
}

/** Leads packets whose address of this side is in the network to a class. */
export function newNetworkFilter(link: number, side: "source" | "destination", network: Cidr, to: number): NetlinkRequest {
  const { family } = network.address;
  return newFilter(link, { parent: ROOT_HANDLE, priority: priorities[family], protocol: ETH_P[family] }, "u32", [
    u32Attribute(TCA_U32_CLASSID, to),
    attribute(TCA_U32_SEL, networkSelector(side, network)),
  ]);
}

/** The selector of such a filter. */
export function networkSelector(side: "source" | "destination", { address, prefix }: Cidr): Uint8Array {
  const bytes = addressBytes(address);
  const keys: Key[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const mask = maskBytes(prefix - 8 * at);
    const value = mask.map((byte, index) => byte & (bytes[at + index] ?? 0));
    if (mask[0] !== 0) keys.push({ mask, value, offset: offsets[address.family][side] + at });
  }
  return selector(keys.length > 0 ? keys : [{ mask: new Uint8Array(4), value: new Uint8Array(4), offset: 0 }]);
}

/** The class and the selector of a filter. The kernel sets no counters in the selector. */
export function networkFilterIn(options: Attributes): { readonly to: number; readonly selector: Uint8Array } | undefined {
  const found = options.get(TCA_U32_SEL);
  return found === undefined ? undefined : { to: options.u32(TCA_U32_CLASSID) ?? 0, selector: found };
}

/** A comparison of four bytes of the packet. Mask and value are in network byte order. */
interface Key {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
  readonly offset: number;
}

function selector(keys: readonly Key[]): Uint8Array {
  const bytes = new Uint8Array(SELECTOR + KEY * keys.length);
  bytes[0] = TC_U32_TERMINAL;
  bytes[2] = keys.length;
  for (const [index, { mask, value, offset }] of keys.entries()) {
    const at = SELECTOR + KEY * index;
    bytes.set(mask, at);
    bytes.set(value, at + 4);
    putU32(bytes, at + 8, offset);
  }
  return bytes;
}

/** The first `bits` bits of four bytes are ones. */
function maskBytes(bits: number): Uint8Array {
  return Uint8Array.from({ length: 4 }, (_, index) => (0xff00 >> Math.min(8, Math.max(0, bits - 8 * index))) & 0xff);
}
