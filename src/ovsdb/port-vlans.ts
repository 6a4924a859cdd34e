// The VLANs of a port of Open vSwitch: the columns `tag`, `trunks` and `vlan_mode` of the table Port (ovs-vswitchd.conf.db(5)).

import type { Row } from "./messages.ts";
import { readIntegers, readOptional, set } from "./values.ts";

/** VLANs `first` to `last`, both included. */
export interface VlanRange {
  readonly first: number;
  readonly last: number;
}

/** The VLANs of a port. Without both members a port carries all VLANs. */
export interface PortVlans {
  /** The VLAN of untagged frames. */
  readonly tag?: number | undefined;
  /** The VLANs of tagged frames. */
  readonly trunks?: readonly VlanRange[] | undefined;
}

/** The greatest number of a VLAN in Open vSwitch. */
export const maxVlan = 4095;

/** Why the VLANs are invalid, as a sentence without its end; undefined if they are valid. */
export function vlansProblem({ tag, trunks }: PortVlans): string | undefined {
  if (tag !== undefined && tag > maxVlan) return `VLAN ${tag} is not 0 to ${maxVlan}`;
  if (trunks?.length === 0) return "trunks is empty, which Open vSwitch reads as all VLANs: leave trunks out, or name the VLANs";
  let before = -1;
  for (const { first, last } of trunks ?? []) {
    if (first > last || last > maxVlan) return `VLANs ${first} to ${last} are not a range within 0 to ${maxVlan}`;
    if (first <= before)
      return `VLANs ${first} to ${last} do not come after VLAN ${before}: trunks is in ascending order, without overlap`;
    before = last;
  }
  return undefined;
}

/** The columns of a port with these VLANs, which are valid. A port without VLANs keeps the defaults: an agent of the fabric may set its own. */
export function vlanColumns({ tag, trunks }: PortVlans): Readonly<Record<string, unknown>> {
  if (trunks === undefined) return tag === undefined ? {} : { tag, vlan_mode: "access" };
  const columns = { trunks: set(numbersOf(trunks)) };
  return tag === undefined ? { ...columns, vlan_mode: "trunk" } : { ...columns, tag, vlan_mode: "native-untagged" };
}

/** Reads the VLANs of a selected port. Undefined: the columns are not those of the schema. */
export function readPortVlans(row: Row): (Required<Pick<PortVlans, "trunks">> & Pick<PortVlans, "tag">) | undefined {
  const tag = readOptional(row["tag"]);
  const trunks = readIntegers(row["trunks"]);
  if (trunks === undefined || typeof tag === "string") return undefined;
  return { tag, trunks: rangesOf(trunks) };
}

/** Whether a port has the requested VLANs. A request without VLANs leaves them to the fabric. */
export function hasVlans(present: PortVlans, { tag, trunks }: PortVlans): boolean {
  if (tag === undefined && trunks === undefined) return true;
  const wanted = rangesOf(numbersOf(trunks ?? []));
  const found = rangesOf(numbersOf(present.trunks ?? []));
  const isSame = ({ first, last }: VlanRange, at: number): boolean => found[at]?.first === first && found[at].last === last;
  return present.tag === tag && found.length === wanted.length && wanted.every(isSame);
}

function numbersOf(ranges: readonly VlanRange[]): readonly number[] {
  const numbers = new Set<number>();
  for (const { first, last } of ranges) for (let each = first; each <= last; each++) numbers.add(each);
  return [...numbers];
}

/** The ranges of these numbers in order; neighbours are in one range. */
function rangesOf(numbers: readonly number[]): readonly VlanRange[] {
  const ranges: VlanRange[] = [];
  for (const each of numbers.toSorted((a, b) => a - b)) {
    const before = ranges.at(-1);
    if (before !== undefined && each <= before.last + 1) ranges[ranges.length - 1] = { first: before.first, last: each };
    else ranges.push({ first: each, last: each });
  }
  return ranges;
}
