// The address ranges of IPAM configurations: those of host-local (and ipam-host-local) and of whereabouts.

import { isJsonObject } from "../json/document.ts";
import type { JsonPath } from "../json/position.ts";
import { compareAddresses, type IpAddress, networkOf, readAddress, readCidr } from "../net/ip.ts";

/** A range of addresses, and where its subnet stands in the plugin's object. */
export interface AddressRange {
  readonly first: IpAddress;
  readonly last: IpAddress;
  /** The subnet as written. */
  readonly subnet: string;
  readonly path: JsonPath;
}

/** A malformed address, and where it stands. */
export interface BadAddress {
  readonly path: JsonPath;
  readonly why: string;
}

/** The ranges and the mistakes in them. */
export interface AddressRanges {
  readonly ranges: readonly AddressRange[];
  readonly bad: readonly BadAddress[];
}

const poolTypes = ["host-local", "ipam-host-local", "whereabouts"];

/** The ranges of a plugin's `ipam`. Empty for other IPAM types. */
export function addressRangesOf(plugin: Readonly<Record<string, unknown>>): AddressRanges {
  const ipam = plugin["ipam"];
  if (!isJsonObject(ipam) || !poolTypes.includes(String(ipam["type"]))) return { ranges: [], bad: [] };
  const read = [...rangeObjects(ipam)].map(([object, path]) => readRange(object, path));
  return { ranges: read.flatMap(({ ranges }) => ranges), bad: read.flatMap(({ bad }) => bad) };
}

function* rangeObjects(
  ipam: Readonly<Record<string, unknown>>,
): Generator<readonly [Readonly<Record<string, unknown>>, JsonPath]> {
  if (ipam["subnet"] !== undefined || ipam["range"] !== undefined) yield [ipam, ["ipam"]];
  const { ranges, ipRanges } = ipam;
  for (const [key, sets] of Object.entries({ ranges, ipRanges })) {
    if (!Array.isArray(sets)) continue;
    for (const [index, set] of sets.entries()) {
      // host-local has lists of lists, whereabouts one list.
      const list: readonly unknown[] = Array.isArray(set) ? set : [set];
      for (const [at, each] of list.entries())
        if (isJsonObject(each)) yield [each, ["ipam", key, index, ...(Array.isArray(set) ? [at] : [])]];
    }
  }
}

function readRange(object: Readonly<Record<string, unknown>>, path: JsonPath): AddressRanges {
  const key = typeof object["subnet"] === "string" ? "subnet" : "range";
  const subnet = object[key];
  // A capability argument or a missing member: nothing to compare.
  if (typeof subnet !== "string") return { ranges: [], bad: [] };
  const refused = (member: string, why: string): AddressRanges => ({ ranges: [], bad: [{ path: [...path, member], why }] });
  // whereabouts may write "10.0.0.5-10.0.0.9/24".
  const [, start, rest] = key === "range" ? (/^([^-/]+)-([^-]+)$/.exec(subnet) ?? []) : [];
  const cidr = readCidr(rest ?? subnet);
  if (cidr === undefined) return refused(key, `${subnet} is no subnet such as 10.1.0.0/16`);
  const { first, last } = networkOf(cidr);
  const bounds: Record<"first" | "last", IpAddress> = {
    first: addressOf(start) ?? first,
    last: start === undefined ? last : cidr.address,
  };
  for (const [member, end] of [
    ["rangeStart", "first"],
    ["rangeEnd", "last"],
    ["range_start", "first"],
    ["range_end", "last"],
  ] as const) {
    const text = object[member];
    if (typeof text !== "string") continue;
    const address = readAddress(text.split("/")[0] ?? "");
    if (address === undefined) return refused(member, `${text} is no address`);
    if (compareAddresses(address, first) < 0 || compareAddresses(address, last) > 0)
      return refused(member, `${text} is outside of ${subnet}`);
    bounds[end] = address;
  }
  if (compareAddresses(bounds.first, bounds.last) > 0) return refused(key, `the range of ${subnet} ends before it begins`);
  return { ranges: [{ ...bounds, subnet, path: [...path, key] }], bad: [] };
}

function addressOf(text: string | undefined): IpAddress | undefined {
  return text === undefined ? undefined : readAddress(text);
}
