// Messages of traffic control (linux/rtnetlink.h, linux/pkt_sched.h): queueing disciplines (qdiscs), their classes and filters, and the counters of
// each. The codecs of the kinds are token-bucket.ts, class-bucket.ts and u32-filter.ts. No I/O.

import { Attributes, attribute, nested, type NetlinkRequest } from "./message.ts";
import { concat, cString, i32At, putU32, u32At } from "./bytes.ts";
import { NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL } from "./link-attributes.ts";

const RTM_NEWQDISC = 36;
const RTM_DELQDISC = 37;
const RTM_GETQDISC = 38;
const RTM_NEWTCLASS = 40;
const RTM_GETTCLASS = 42;
const RTM_NEWTFILTER = 44;
const RTM_GETTFILTER = 46;
const TCMSG = 20;
const TCA_KIND = 1;
const TCA_OPTIONS = 2;
const TCA_STATS2 = 7;
const TCA_STATS_BASIC = 1;
const TCA_STATS_QUEUE = 3;
const TCA_STATS_PKT64 = 8;

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Where a qdisc is: at the link's root, or where the link's incoming packets pass. */
export const ROOT = 0xffff_ffff;
export const INGRESS = 0xffff_fff1;
/** The handle of an ingress qdisc. */
export const INGRESS_HANDLE = 0xffff_0000;
/** The place of filters for incoming packets, of an ingress qdisc and of a `clsact` (TC_H_CLSACT, TC_H_MIN_INGRESS). */
export const INGRESS_FILTERS = 0xffff_fff2;

/** The handle `major:minor` of a qdisc (`minor` 0) or a class. */
export function handle(major: number, minor: number): number {
  return ((major << 16) | minor) >>> 0;
}

/** The place of a qdisc, a class or a filter on a link. */
interface Place {
  /** The link's index. */
  readonly link: number;
  readonly handle: number;
  readonly parent: number;
}

/** A qdisc, a class or a filter as the kernel lists it. */
export interface Listed extends Place {
  readonly what: "qdisc" | "class" | "filter";
  readonly kind: string;
  readonly options: Attributes;
  /** A filter's priority, and protocol (ETH_P_*) in network byte order. */
  readonly info: number;
  readonly counters: TrafficCounters;
}

/** Counters of a qdisc. */
export interface TrafficCounters {
  readonly bytes: number;
  readonly packets: number;
  readonly drops: number;
}

function tcmsg({ link, handle: own, parent }: Place, info = 0): Uint8Array {
  const bytes = new Uint8Array(TCMSG);
  putU32(bytes, 4, link);
  putU32(bytes, 8, own);
  putU32(bytes, 12, parent);
  putU32(bytes, 16, info);
  return bytes;
}

function creation(type: number, place: Place, kind: string, options: readonly Uint8Array[], info = 0): NetlinkRequest {
  const body = concat([tcmsg(place, info), attribute(TCA_KIND, cString(kind)), nested(TCA_OPTIONS, options)]);
  return { type, flags: NLM_F_CREATE | NLM_F_EXCL, body };
}

/** Adds a qdisc. An existing qdisc at this place stays (EEXIST). */
export function newQdisc(place: Place, kind: string, options: readonly Uint8Array[]): NetlinkRequest {
  return creation(RTM_NEWQDISC, place, kind, options);
}

/** Adds a class to a qdisc. */
export function newClass(place: Place, kind: string, options: readonly Uint8Array[]): NetlinkRequest {
  return creation(RTM_NEWTCLASS, place, kind, options);
}

/** Adds a filter. `protocol`: an ETH_P_*. */
export function newFilter(
  link: number,
  { parent, priority, protocol }: { readonly parent: number; readonly priority: number; readonly protocol: number },
  kind: string,
  options: readonly Uint8Array[],
): NetlinkRequest {
  return creation(RTM_NEWTFILTER, { link, handle: 0, parent }, kind, options, filterInfo(priority, protocol));
}

/** A filter's priority and protocol in one number; the protocol is in network byte order. */
export function filterInfo(priority: number, protocol: number): number {
  const swapped = isLittleEndian ? ((protocol & 0xff) << 8) | (protocol >> 8) : protocol;
  return ((priority << 16) | swapped) >>> 0;
}

/** Adds the qdisc through which a link's incoming packets pass. */
export function newIngress(link: number): NetlinkRequest {
  return newQdisc({ link, handle: INGRESS_HANDLE, parent: INGRESS }, "ingress", []);
}

/** Removes the qdisc at this place of the link, with its classes and filters. */
export function qdiscRemoval(link: number, parent: typeof ROOT | typeof INGRESS): NetlinkRequest {
  return { type: RTM_DELQDISC, flags: 0, body: tcmsg({ link, handle: 0, parent }) };
}

/** Requests the qdiscs of all links: the kernel has no filter by link for them. */
export const qdiscsRequest: NetlinkRequest = {
  type: RTM_GETQDISC,
  flags: NLM_F_DUMP,
  body: tcmsg({ link: 0, handle: 0, parent: 0 }),
};

/** Requests the classes of a link. */
export function classesRequest(link: number): NetlinkRequest {
  return { type: RTM_GETTCLASS, flags: NLM_F_DUMP, body: tcmsg({ link, handle: 0, parent: 0 }) };
}

/** Requests the filters of a qdisc. */
export function filtersRequest(link: number, parent: number): NetlinkRequest {
  return { type: RTM_GETTFILTER, flags: NLM_F_DUMP, body: tcmsg({ link, handle: 0, parent }) };
}

const listedByType: ReadonlyMap<number, Listed["what"]> = new Map([
  [RTM_NEWQDISC, "qdisc"],
  [RTM_NEWTCLASS, "class"],
  [RTM_NEWTFILTER, "filter"],
]);

/** The qdisc, class or filter in a message; undefined for another message. */
export function listedIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): Listed | undefined {
  const what = listedByType.get(type);
  if (what === undefined || body.length < TCMSG) return undefined;
  const attributes = new Attributes(body, TCMSG);
  return {
    what,
    link: i32At(body, 4),
    handle: u32At(body, 8),
    parent: u32At(body, 12),
    info: u32At(body, 16),
    kind: attributes.text(TCA_KIND),
    options: attributes.within(TCA_OPTIONS),
    counters: countersIn(attributes.within(TCA_STATS2)),
  };
}

function countersIn(statistics: Attributes): TrafficCounters {
  const basic = statistics.get(TCA_STATS_BASIC) ?? new Uint8Array(0);
  const whole = statistics.get(TCA_STATS_PKT64);
  const queue = statistics.get(TCA_STATS_QUEUE) ?? new Uint8Array(0);
  return { bytes: u64At(basic, 0), packets: whole === undefined ? u32At(basic, 8) : u64At(whole, 0), drops: u32At(queue, 8) };
}

/** A number of eight bytes, as a double; 0 beyond the end. */
export function u64At(bytes: Uint8Array, at: number): number {
  if (at + 8 > bytes.length) return 0;
  return Number(new DataView(bytes.buffer, bytes.byteOffset + at, 8).getBigUint64(0, isLittleEndian));
}

/** Eight bytes of a whole number. */
export function u64(value: number): Uint8Array {
  return new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);
}
