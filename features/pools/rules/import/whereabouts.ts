// Reads whereabouts' objects: an IPPool has its allocations as offsets from the range's first address, and an OverlappingRangeIPReservation is named
// after its address (whereabouts, pkg/api and pkg/storage/kubernetes).

import { describeJson, isJsonObject } from "../../../../src/json/document.ts";
import { quote } from "../../../../src/json/quote.ts";
import { type IpAddress, networkOf, readAddress, readCidr } from "../../../../src/net/ip.ts";
import type { AddressOwner, HeldAddress, HeldAddresses } from "./held-address.ts";

/** whereabouts' API group and version. */
export const whereaboutsApiVersion = "whereabouts.cni.cncf.io/v1alpha1";

/** Maximum number of allocations of one IPPool. etcd's limit of an object holds some 15,000. */
const maxAllocations = 65_536;
/** Maximum digits of an offset: 2^128 has 39. */
const maxOffsetDigits = 39;
const maxText = 253;

/** Reads one IPPool. A hostile pool gives problems and no address outside its range. */
export function readIpPool(object: unknown): HeldAddresses {
  const source = `IPPool ${nameOf(object)}`;
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  if (!isJsonObject(spec)) return problem(`${source}: spec is ${describeJson(spec)}`);
  const { range, allocations = {} } = spec;
  const cidr = typeof range === "string" ? readCidr(range) : undefined;
  if (cidr === undefined) {
    const shown = typeof range === "string" ? quote(range, 80) : describeJson(range);
    return problem(`${source}: spec.range is ${shown}, which is no range in CIDR notation`);
  }
  if (allocations === null) return { held: [], problems: [] };
  if (!isJsonObject(allocations)) return problem(`${source}: spec.allocations is ${describeJson(allocations)}`);
  const entries = Object.entries(allocations);
  if (entries.length > maxAllocations) return problem(`${source} has more than ${maxAllocations} allocations`);
  const held: HeldAddress[] = [];
  const problems: string[] = [];
  const { last } = networkOf(cidr);
  for (const [offset, allocation] of entries) {
    const address = addressAt(cidr.address, last, offset);
    const owner = address === undefined ? undefined : ownerOf(allocation);
    if (address === undefined) problems.push(`${source}: offset ${quote(offset, 60)} is no address of ${String(range)}`);
    else if (owner === undefined) problems.push(`${source}: the allocation at offset ${offset} names no owner`);
    else held.push({ address, owner, source });
  }
  return { held, problems };
}

/** Reads one OverlappingRangeIPReservation. An IPv6 address has `-` in the place of `:` in the name; a network's name may precede the address. */
export function readOverlappingReservation(object: unknown): HeldAddresses {
  const name = nameOf(object);
  const source = `OverlappingRangeIPReservation ${name}`;
  const address = addressInName(name.slice(name.indexOf("/") + 1));
  if (address === undefined) return problem(`${source}: the name has no IP address at its end`);
  const owner = ownerOf(isJsonObject(object) ? object["spec"] : undefined);
  if (owner === undefined) return problem(`${source}: spec names no owner`);
  return { held: [{ address, owner, source }], problems: [] };
}

function addressAt(first: IpAddress, last: IpAddress, offset: string): IpAddress | undefined {
  if (offset.length > maxOffsetDigits || !/^[0-9]+$/.test(offset)) return undefined;
  const value = first.value + BigInt(offset);
  return value <= last.value ? { family: first.family, value } : undefined;
}

function addressInName(name: string): IpAddress | undefined {
  const afterNetwork = name.slice(name.lastIndexOf("-") + 1);
  const dotted = readAddress(afterNetwork);
  if (dotted !== undefined) return dotted;
  // A network's name and an IPv6 address both have `-`: the longest end of the name that is an address counts.
  const parts = name.split("-");
  for (let start = 0; start < parts.length; start++) {
    const address = readAddress(parts.slice(start).join(":"));
    if (address?.family === 6) return address;
  }
  return undefined;
}

function ownerOf(value: unknown): AddressOwner | undefined {
  if (!isJsonObject(value)) return undefined;
  const { podref, ifname = "" } = value;
  // An allocation has `id`; an OverlappingRangeIPReservation has `containerid`.
  const containerId = value["id"] ?? value["containerid"] ?? "";
  const texts = [podref ?? "", ifname, containerId];
  if (!texts.every((text): text is string => typeof text === "string" && text.length <= 2 * maxText)) return undefined;
  const [pod = "", interfaceName = "", container = ""] = texts;
  const slash = pod.indexOf("/");
  const [podNamespace, podName] = slash === -1 ? ["", ""] : [pod.slice(0, slash), pod.slice(slash + 1)];
  if (container === "" && podName === "") return undefined;
  return { containerId: container, ifname: interfaceName, podNamespace, podName };
}

function nameOf(object: unknown): string {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const { namespace, name } = isJsonObject(metadata) ? metadata : {};
  return `${textOf(namespace)}/${textOf(name)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, maxText) : "?";
}

function problem(text: string): HeldAddresses {
  return { held: [], problems: [text] };
}
