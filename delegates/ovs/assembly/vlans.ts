// The VLANs of a port: `vlan` and `trunk` of the configuration, or those that Open vSwitch has.

import { VlanRange } from "plexus/abi/ovs";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { Some } from "plexus/some";

const trunkKeys: StaticArray<string> = ["minID", "maxID", "id"];
const maxVlan: i64 = 4095;

/** One VLAN of untagged frames, or those of a trunk. */
@final
export class Vlans {
  constructor(
    readonly tag: Some<u16> | null,
    /** In ascending order; null: all, unless there is a tag. */
    readonly trunks: Array<VlanRange> | null,
  ) {}

  /** Reads `vlan` and `trunk`; mistakes are recorded in the configuration's fault. With a trunk, `vlan` has no effect, as in ovs-cni. */
  static read(root: Config): Vlans {
    const vlan = root.integer("vlan");
    let tag: Some<u16> | null = null;
    if (vlan !== null) {
      if (vlan.value < 0 || vlan.value > maxVlan) root.refuse("vlan", `must be between 0 and ${maxVlan}, is ${vlan.value}`);
      else tag = new Some<u16>(<u16>vlan.value);
    }
    const list = root.list("trunk");
    if (list === null || list.length == 0) return new Vlans(tag, null);
    const isTrunked = new StaticArray<bool>(<i32>maxVlan + 1);
    for (let i = 0; i < list.length; i++) {
      const item = folded(root, list.at(i), `trunk[${i}]`, trunkKeys);
      if (item !== null) addTrunk(item, isTrunked);
    }
    const trunks = rangesOf(isTrunked);
    if (trunks.length == 0) root.refuse("trunk", "names no VLAN: each element needs id, or minID and maxID");
    return new Vlans(null, trunks);
  }

  /** Whether the port carries all VLANs. */
  get isAll(): bool {
    return this.tag === null && this.trunks === null;
  }

  equals(other: Vlans): bool {
    return this.toString() == other.toString();
  }

  /** Such as `VLAN 7`, `the trunks 10-12, 42`, `all VLANs`. */
  toString(): string {
    const trunks = this.trunks;
    const tag = this.tag;
    const ranges = trunks === null ? "" : textOf(trunks);
    const one = tag === null ? "" : `VLAN ${tag.value}`;
    if (ranges == "") return one == "" ? "all VLANs" : one;
    return one == "" ? `the trunks ${ranges}` : `${one} and the trunks ${ranges}`;
  }
}

function textOf(ranges: Array<VlanRange>): string {
  let text = "";
  for (let i = 0; i < ranges.length; i++) {
    const range = ranges[i];
    const one = range.first == range.last ? range.first.toString() : `${range.first}-${range.last}`;
    text += i == 0 ? one : `, ${one}`;
  }
  return text;
}

function addTrunk(item: Config, isTrunked: StaticArray<bool>): void {
  const id = readVlan(item, "id");
  const min = readVlan(item, "minID");
  const max = readVlan(item, "maxID");
  if (id >= 0) isTrunked[id] = true;
  if (min >= 0 != max >= 0) item.refuse(min < 0 ? "minID" : "maxID", "is missing: minID and maxID go together");
  if (min < 0 || max < 0) return;
  if (max < min) item.refuse("minID", `is greater than maxID: ${min} and ${max}`);
  for (let each = min; each <= max; each++) isTrunked[each] = true;
}

/** -1 if absent or wrong. */
function readVlan(item: Config, key: string): i32 {
  const id = item.integer(key);
  if (id === null) return -1;
  if (id.value >= 0 && id.value <= maxVlan) return <i32>id.value;
  item.refuse(key, `must be between 0 and ${maxVlan}, is ${id.value}`);
  return -1;
}

function rangesOf(isTrunked: StaticArray<bool>): Array<VlanRange> {
  const ranges = new Array<VlanRange>();
  let first: i32 = -1;
  for (let id: i32 = 0; id <= isTrunked.length; id++) {
    const isIn = id < isTrunked.length && isTrunked[id];
    if (isIn && first < 0) first = id;
    if (isIn || first < 0) continue;
    ranges.push(new VlanRange(<u16>first, <u16>(id - 1)));
    first = -1;
  }
  return ranges;
}
