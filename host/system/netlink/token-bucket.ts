// Token buckets (linux/pkt_sched.h): the qdisc `tbf`, and the qdisc `htb` with its classes. No I/O.

import { attribute, type Attributes, type NetlinkRequest } from "./message.ts";
import { concat, putU32, u32, u32At } from "./bytes.ts";
import { handle, newClass, newQdisc, ROOT, u64, u64At } from "./traffic-control.ts";

const TCA_TBF_PARMS = 1;
const TCA_TBF_RATE64 = 4;
const TCA_HTB_PARMS = 1;
const TCA_HTB_INIT = 2;
const TCA_HTB_RATE64 = 6;
const TCA_HTB_CEIL64 = 7;
const HTB_VERSION = 3;
/** A class' quantum is its rate divided by this. */
const HTB_RATE_TO_QUANTUM = 10;
const TC_LINKLAYER_ETHERNET = 1;
const RATE_SPEC = 12;
const MAX_U32 = 0xffff_ffff;
/** The kernel's clock of traffic control: one tick has 64 ns (PSCHED_SHIFT). */
const ticksPerMicrosecond = 15.625;

/** The handle of a link's root qdisc, and of the two classes below an `htb`. */
export const ROOT_HANDLE = handle(1, 0);
export const FREE_CLASS = handle(1, 1);
export const BOUND_CLASS = handle(1, 0x30);

/** Bytes in a second of a class without a bound. */
const freeRate = 100_000_000_000;

/** A bucket in the kernel's units. */
export interface KernelBucket {
  /** Bytes in a second. */
  readonly rate: number;
  /** The time in which the bucket fills, in ticks. */
  readonly buffer: number;
  /** Bytes that may wait for tokens. Classes have no such limit. */
  readonly limit: number;
}

/** A bucket of bits in the kernel's units, with the reference plugin's rounding. `latency`: in milliseconds. */
export function kernelBucket(bucket: { readonly rate: number; readonly burst: number; readonly latency: number }): KernelBucket {
  const rate = Math.floor(bucket.rate / 8);
  const burst = Math.floor(bucket.burst / 8);
  const microseconds = Math.min(MAX_U32, Math.floor((burst * 1_000_000) / rate));
  return {
    rate,
    buffer: Math.min(MAX_U32, Math.floor(microseconds * ticksPerMicrosecond)),
    limit: Math.min(MAX_U32, Math.floor((rate * bucket.latency) / 1000) + burst),
  };
}

/** Adds a token bucket as the link's root qdisc. */
export function newTokenBucket(link: number, { rate, buffer, limit }: KernelBucket): NetlinkRequest {
  // The peak rate is all zeros: none. So is the MTU of its bucket.
  const parameters = concat([rateSpec(rate, 0), rateSpec(0, 0), u32(limit), u32(buffer), u32(0)]);
  return newQdisc({ link, handle: ROOT_HANDLE, parent: ROOT }, "tbf", [
    attribute(TCA_TBF_PARMS, parameters),
    ...wide(TCA_TBF_RATE64, rate),
  ]);
}

/** The bucket in a `tbf`'s options. */
export function tokenBucketIn(options: Attributes): KernelBucket {
  const parameters = options.get(TCA_TBF_PARMS) ?? new Uint8Array(0);
  const at = 2 * RATE_SPEC;
  return {
    rate: rateIn(options, TCA_TBF_RATE64, parameters, 0),
    limit: u32At(parameters, at),
    buffer: u32At(parameters, at + 4),
  };
}

/** Adds an `htb` as the link's root qdisc, with a bound and a free class. `fallback`: the class of packets that match no filter. */
export function newClassBuckets(
  link: number,
  bucket: KernelBucket,
  fallback: typeof FREE_CLASS | typeof BOUND_CLASS,
): readonly NetlinkRequest[] {
  const settings = concat([u32(HTB_VERSION), u32(HTB_RATE_TO_QUANTUM), u32(fallback & 0xffff), u32(0), u32(0)]);
  return [
    newQdisc({ link, handle: ROOT_HANDLE, parent: ROOT }, "htb", [attribute(TCA_HTB_INIT, settings)]),
    newClassBucket(link, BOUND_CLASS, { rate: bucket.rate, ceiling: 2 * bucket.rate, buffer: bucket.buffer }),
    newClassBucket(link, FREE_CLASS, { rate: freeRate, ceiling: freeRate, buffer: 0 }),
  ];
}

/** A class has no parent class to borrow from, so the ceiling has no effect; it is the reference plugin's. */
function newClassBucket(
  link: number,
  own: number,
  { rate, ceiling, buffer }: { readonly rate: number; readonly ceiling: number; readonly buffer: number },
): NetlinkRequest {
  const [quantum, level, priority] = [0, 0, 0];
  const rates = [rateSpec(rate, TC_LINKLAYER_ETHERNET), rateSpec(ceiling, TC_LINKLAYER_ETHERNET)];
  const parameters = concat([...rates, u32(buffer), u32(buffer), u32(quantum), u32(level), u32(priority)]);
  return newClass({ link, handle: own, parent: ROOT_HANDLE }, "htb", [
    attribute(TCA_HTB_PARMS, parameters),
    ...wide(TCA_HTB_RATE64, rate),
    ...wide(TCA_HTB_CEIL64, ceiling),
  ]);
}

/** The class of packets that match no filter, in an `htb`'s options. */
export function fallbackClassIn(options: Attributes): number {
  return handle(1, u32At(options.get(TCA_HTB_INIT) ?? new Uint8Array(0), 8) & 0xffff);
}

/** The bucket in the options of a class. */
export function classBucketIn(options: Attributes): Pick<KernelBucket, "rate" | "buffer"> {
  const parameters = options.get(TCA_HTB_PARMS) ?? new Uint8Array(0);
  return { rate: rateIn(options, TCA_HTB_RATE64, parameters, 0), buffer: u32At(parameters, 2 * RATE_SPEC) };
}

/** The fixed part of a rate (tc_ratespec). A rate that needs more than 32 bits is in an attribute of its own. */
function rateSpec(rate: number, linkLayer: number): Uint8Array {
  const bytes = new Uint8Array(RATE_SPEC);
  bytes[1] = linkLayer;
  putU32(bytes, 8, Math.min(rate, MAX_U32));
  return bytes;
}

function wide(type: number, rate: number): readonly Uint8Array[] {
  return rate > MAX_U32 ? [attribute(type, u64(rate))] : [];
}

function rateIn(options: Attributes, type: number, parameters: Uint8Array, at: number): number {
  const value = options.get(type);
  return value === undefined ? u32At(parameters, at + 8) : u64At(value, 0);
}
