// `ipBlock` of a policy's peer: a network without its exceptions, as ranges of addresses.

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { type Cidr, cidrContains, type Family, networkOf, readCidr } from "../../../src/net/ip.ts";

/** A network without its exceptions. */
export interface IpBlock {
  readonly cidr: Cidr;
  readonly except: readonly Cidr[];
}

/** A range of addresses of one family, both ends included. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Maximum characters of an IPv4 network, as in the API's objects. */
const maxDotted = 64;
/** Maximum exceptions of a block. */
const maxExceptions = 256;

/** Reads a block. Each exception lies within the network, as the API server demands. */
export function readIpBlock(object: unknown, where: string): Reading<IpBlock> {
  if (!isJsonObject(object)) return problem(`${where} is ${describeJson(object)}, and must be an object`);
  const cidr = networkIn(object["cidr"]);
  if (cidr === undefined) return problem(`${where}.cidr is ${shown(object["cidr"])}, and must be a network such as 10.0.0.0/8`);
  const except = object["except"] ?? [];
  if (!Array.isArray(except) || except.length > maxExceptions) {
    return problem(`${where}.except must be a list of at most ${maxExceptions} networks`);
  }
  const exceptions: Cidr[] = [];
  for (const each of except) {
    const read = networkIn(each);
    if (read === undefined || read.prefix <= cidr.prefix || !cidrContains(cidr, read.address)) {
      return problem(`${where}.except has ${shown(each)}, which is no smaller network within ${shown(object["cidr"])}`);
    }
    exceptions.push(read);
  }
  return { ok: true, value: { cidr, except: exceptions } };
}

/** The API server takes leading zeros in an IPv4 network for decimal numbers (k8s.io/utils/net, ParseCIDRSloppy). */
function networkIn(value: unknown): Cidr | undefined {
  if (typeof value !== "string") return undefined;
  const isDotted = value.length <= maxDotted && /^\d+(?:\.\d+){3}\/\d+$/u.test(value);
  return readCidr(isDotted ? value.replaceAll(/\b0+(?=\d)/gu, "") : value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : describeJson(value);
}

/** The addresses of a family that any of the blocks has, as disjoint ranges with gaps between them, in order. */
export function blockRanges(blocks: readonly IpBlock[], family: Family): readonly AddressRange[] {
  const ranges = blocks.filter(({ cidr }) => cidr.address.family === family).flatMap(rangesOf);
  return merged(ranges);
}

function rangesOf({ cidr, except }: IpBlock): readonly AddressRange[] {
  const { first, last } = rangeOf(cidr);
  const left: AddressRange[] = [];
  let from = first;
  for (const gap of merged(except.map(rangeOf))) {
    if (gap.first > from) left.push({ first: from, last: gap.first - 1n });
    from = gap.last + 1n;
  }
  return from <= last ? [...left, { first: from, last }] : left;
}

function rangeOf(cidr: Cidr): AddressRange {
  const { first, last } = networkOf(cidr);
  return { first: first.value, last: last.value };
}

/** Joins ranges that overlap or touch: the kernel's interval sets refuse them. */
function merged(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const joined: AddressRange[] = [];
  for (const range of ranges.toSorted((one, other) => (one.first < other.first ? -1 : one.first > other.first ? 1 : 0))) {
    const before = joined.at(-1);
    if (before === undefined || range.first > before.last + 1n) joined.push(range);
    else if (range.last > before.last) joined[joined.length - 1] = { first: before.first, last: range.last };
  }
  return joined;
}
