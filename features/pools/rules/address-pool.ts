// AddressPool: the addresses of a network that spans nodes. Nodes claim blocks of it (address-block.ts).

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { isPoolName, poolNameLength } from "../../../src/configuration/pool-name.ts";
import { quote } from "../../../src/json/quote.ts";
import { formatAddress, formatCidr, type IpAddress, networkOf, readCidr, type Cidr } from "../../../src/net/ip.ts";
import { type ObjectMetadata, problem, readParts, type Reading } from "../../../src/kube/object-parts.ts";
import { poolApiVersion, readInteger, readIp } from "./object-reading.ts";
import { type FreeCount, readFreeCounts } from "./free-addresses.ts";
import { type PoolDetection, readDetection } from "./pool-detection.ts";
import { type AddressSpan, formatSpan, intersection, readSpan } from "./spans.ts";

/** A range of a pool. Its span, its gateway and its static addresses never change. */
export interface PoolRange {
  readonly subnet: Cidr;
  /** The assignable addresses, without regard to gateway, exclusions and static addresses. */
  readonly span: AddressSpan;
  /** The gateway of the range's pods, which is never assigned. */
  readonly gateway: IpAddress;
  /** Addresses that no block hands out, but reservations do. */
  readonly statics: readonly AddressSpan[];
}

/** The addresses of a pool, and their division into blocks. */
export interface PoolSpace {
  readonly ranges: readonly PoolRange[];
  /** Addresses that are never handed out. */
  readonly exclusions: readonly AddressSpan[];
  /** Addresses of a block: a power of two. */
  readonly blockSize: number;
}

/** An AddressPool. */
export interface AddressPool extends ObjectMetadata, PoolSpace {
  /** How long a block of a node that is gone stays marked before it is freed. */
  readonly freeAfterSeconds: number;
  /** Whether the pods of a VirtualMachineInstance get one static address, which stays the instance's over a live migration. */
  readonly keepsInstanceAddresses: boolean;
  /** The probes for an address before a pod gets it; undefined: none, unless the step has some. */
  readonly conflictDetection: PoolDetection | undefined;
  /** The number of ranges, from the first one on, that the controller has accepted: no other pool has their addresses. */
  readonly acceptedRanges: number;
  /** The types of the conditions that are True. */
  readonly trueConditions: readonly string[];
  /** The free addresses as the controller last counted them. */
  readonly freeCounts: readonly FreeCount[];
}

/** The path of the collection. */
export const addressPoolsPath = `/apis/${poolApiVersion}/addresspools`;

/** The finalizer that keeps a pool as long as it has blocks or reservations. Without it no block is claimed. */
export const poolFinalizer = "plexus.dev/blocks";

/** The condition of a pool that has addresses of another pool. No block of such a pool is claimed. */
export const overlappingCondition = "Overlapping";

/** Bounds of a pool, which the CustomResourceDefinition has as well. */
export const poolBounds = {
  ranges: 16,
  statics: 64,
  exclusions: 4096,
  blockSize: 4096,
  nameLength: poolNameLength,
  minFreeAfterSeconds: 60,
  maxFreeAfterSeconds: 604_800,
} as const;

/** Addresses of a block by default: a /26 of IPv4. */
export const defaultBlockSize = 64;
/** Four hours: a daemon without the API hands out for 80 % of that time. */
export const defaultFreeAfterSeconds = 14_400;

/** Reads an AddressPool. */
export function readAddressPool(object: unknown): Reading<AddressPool> {
  const parts = readParts(object);
  if (!parts.ok) return parts;
  const { metadata, spec, status } = parts.value;
  if (!isPoolName(metadata.name)) return problem(`metadata.name ${quote(metadata.name, 60)} is not a pool's name`);
  const ranges = readRanges(spec["ranges"]);
  if (!ranges.ok) return ranges;
  const exclusions = readSpans(spec["exclude"], "spec.exclude", poolBounds.exclusions);
  if (!exclusions.ok) return exclusions;
  const { blockSize = defaultBlockSize, freeAfterSeconds = defaultFreeAfterSeconds, keepInstanceAddresses = false } = spec;
  if (typeof keepInstanceAddresses !== "boolean")
    return problem(`spec.keepInstanceAddresses is ${describeJson(keepInstanceAddresses)}; it must be true or false`);
  const size = readInteger(blockSize, "spec.blockSize", 1, poolBounds.blockSize);
  if (!size.ok) return size;
  if ((size.value & (size.value - 1)) !== 0) return problem(`spec.blockSize is ${size.value}; it must be a power of two`);
  const freeAfter = readFreeAfter(freeAfterSeconds);
  if (!freeAfter.ok) return freeAfter;
  const detection = readDetection(spec["conflictDetection"]);
  if (!detection.ok) return detection;
  return {
    ok: true,
    value: {
      ...metadata,
      ranges: ranges.value,
      exclusions: exclusions.value,
      blockSize: size.value,
      freeAfterSeconds: freeAfter.value,
      keepsInstanceAddresses: keepInstanceAddresses,
      conflictDetection: detection.value,
      acceptedRanges: acceptedOf(status["acceptedRanges"], ranges.value.length),
      trueConditions: trueConditionsOf(status["conditions"]),
      freeCounts: readFreeCounts(status["addresses"]),
    },
  };
}

/** Why no further block of the pool may be claimed, as the rest of a sentence that begins with the pool; undefined if blocks may. */
export function claimObstacle({ isDeleted, finalizers, trueConditions }: AddressPool): string | undefined {
  if (isDeleted) return "is being deleted";
  if (!finalizers.includes(poolFinalizer)) {
    return `has no finalizer ${poolFinalizer} yet, which plexus-controller adds: without it the pool could be deleted under its blocks`;
  }
  return trueConditions.includes(overlappingCondition) ? "has addresses of another pool (condition Overlapping)" : undefined;
}

function readRanges(value: unknown): Reading<readonly PoolRange[]> {
  if (!Array.isArray(value)) return problem(`spec.ranges is ${describeJson(value)}`);
  if (value.length === 0 || value.length > poolBounds.ranges) {
    return problem(`spec.ranges has ${value.length} ranges; 1 to ${poolBounds.ranges} are allowed`);
  }
  const ranges: PoolRange[] = [];
  for (const [index, each] of value.entries()) {
    const place = `spec.ranges[${index}]`;
    const range = readRange(each, place);
    if (!range.ok) return range;
    const other = ranges.find(({ subnet }) => intersection(subnetSpan(subnet), subnetSpan(range.value.subnet)) !== undefined);
    if (other !== undefined) return problem(`${place}.subnet overlaps with ${formatCidr(other.subnet)} of the same pool`);
    ranges.push(range.value);
  }
  return { ok: true, value: ranges };
}

function readRange(value: unknown, place: string): Reading<PoolRange> {
  if (!isJsonObject(value)) return problem(`${place} is ${describeJson(value)}`);
  const { subnet: text } = value;
  const subnet = typeof text === "string" ? readCidr(text) : undefined;
  if (subnet === undefined) return problem(`${place}.subnet must be a network such as 10.50.0.0/16`);
  const { family } = subnet.address;
  const whole = subnetSpan(subnet);
  if (subnet.address.value !== whole.first) return problem(`${place}.subnet ${formatCidr(subnet)} has host bits set`);
  const maxPrefix = family === 4 ? 30 : 126;
  if (subnet.prefix > maxPrefix) return problem(`${place}.subnet must have a prefix of at most /${maxPrefix}`);
  const address = (key: "first" | "last" | "gateway", otherwise: bigint): Reading<IpAddress> =>
    value[key] === undefined ? { ok: true, value: { family, value: otherwise } } : readIp(value[key], `${place}.${key}`);
  const first = address("first", whole.first + 1n);
  if (!first.ok) return first;
  const last = address("last", family === 4 ? whole.last - 1n : whole.last);
  if (!last.ok) return last;
  const gateway = address("gateway", whole.first + 1n);
  if (!gateway.ok) return gateway;
  if (gateway.value.family !== family) return problem(`${place}.gateway is of another family than the subnet`);
  for (const [key, end] of [
    ["first", first.value],
    ["last", last.value],
  ] as const) {
    const span = { family: end.family, first: end.value, last: end.value };
    if (intersection(whole, span) === undefined) {
      return problem(`${place}.${key} ${formatAddress(end)} is not in ${formatCidr(subnet)}`);
    }
  }
  if (first.value.value > last.value.value) return problem(`${place}.first comes after ${place}.last`);
  const statics = readSpans(value["static"], `${place}.static`, poolBounds.statics);
  if (!statics.ok) return statics;
  for (const each of statics.value) {
    const inside = intersection(whole, each);
    if (inside?.first !== each.first || inside.last !== each.last) {
      return problem(`${place}.static ${formatSpan(each)} is not within ${formatCidr(subnet)}`);
    }
  }
  const span = { family, first: first.value.value, last: last.value.value };
  return { ok: true, value: { subnet, span, gateway: gateway.value, statics: statics.value } };
}

function subnetSpan(subnet: Cidr): AddressSpan {
  const { first, last } = networkOf(subnet);
  return { family: first.family, first: first.value, last: last.value };
}

function readSpans(value: unknown, place: string, max: number): Reading<readonly AddressSpan[]> {
  if (value === undefined) return { ok: true, value: [] };
  if (!Array.isArray(value)) return problem(`${place} is ${describeJson(value)}`);
  if (value.length > max) return problem(`${place} has ${value.length} entries; at most ${max} are allowed`);
  const spans: AddressSpan[] = [];
  for (const [index, each] of value.entries()) {
    const span = typeof each === "string" ? readSpan(each) : undefined;
    if (span === undefined) return problem(`${place}[${index}] must be an address or a network such as 10.50.3.0/24`);
    spans.push(span);
  }
  return { ok: true, value: spans };
}

function acceptedOf(value: unknown, ranges: number): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? Math.min(value, ranges) : 0;
}

function trueConditionsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const { type, status } = isJsonObject(each) ? each : {};
    return typeof type === "string" && status === "True" ? [type] : [];
  });
}

/** `spec.freeAfterSeconds` of a pool, and of its blocks. */
export function readFreeAfter(value: unknown): ReturnType<typeof readInteger> {
  return readInteger(value, "spec.freeAfterSeconds", poolBounds.minFreeAfterSeconds, poolBounds.maxFreeAfterSeconds);
}
