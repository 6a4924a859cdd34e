// The VLANs of the attachment's port: one native VLAN, and those of a trunk.

import { PortVlan } from "plexus/abi/links";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";

const trunkKeys: StaticArray<string> = ["minID", "maxID", "id"];
const maxVlanId: i64 = 4094;

/** The VLANs that one configuration requests. */
@final
export class Vlans {
  /** The native VLAN; 0: none. */
  native: u16 = 0;
  /** Whether the configuration has a trunk, even an empty one. */
  hasTrunk: bool = false;
  /** The trunk's VLANs, by number. */
  private readonly trunk: StaticArray<bool> = new StaticArray<bool>(4096);
  private isTrunked: bool = false;

  /** Reads `vlan` and `vlanTrunk`; mistakes are recorded in the configuration's fault. */
  static read(config: Config): Vlans {
    const vlans = new Vlans();
    const native = config.integer("vlan");
    if (native !== null) {
      if (native.value < 0 || native.value > maxVlanId) config.refuse("vlan", `must be between 0 and 4094, is ${native.value}`);
      else vlans.native = <u16>native.value;
    }
    const list = config.list("vlanTrunk");
    if (list === null) return vlans;
    vlans.hasTrunk = true;
    for (let i = 0; i < list.length; i++) {
      if (list.at(i).isNull) continue;
      const item = folded(config, list.at(i), `vlanTrunk[${i}]`, trunkKeys);
      if (item !== null) vlans.addTrunk(item);
    }
    return vlans;
  }

  private addTrunk(item: Config): void {
    const min = trunkId(item, "minID");
    const max = trunkId(item, "maxID");
    const id = trunkId(item, "id");
    if (item.has("minID") && !item.has("maxID")) item.refuse("maxID", "is missing: minID and maxID go together");
    if (item.has("maxID") && !item.has("minID")) item.refuse("minID", "is missing: minID and maxID go together");
    if (min != 0 && max != 0 && max < min) item.refuse("minID", `is greater than maxID: ${min} and ${max}`);
    if (min != 0) for (let each = min; each <= max; each++) this.addToTrunk(each);
    if (id != 0) this.addToTrunk(id);
  }

  private addToTrunk(id: i32): void {
    this.trunk[id] = true;
    this.isTrunked = true;
  }

  /** Whether the bridge needs VLAN filtering. */
  get needsFiltering(): bool {
    return this.native != 0 || this.hasTrunk;
  }

  /** Whether the port has any VLAN settings. */
  get hasPortVlans(): bool {
    return this.native != 0 || this.isTrunked;
  }

  /** The port's VLANs. A trunk without a native VLAN uses VLAN 1, like the reference plugin. */
  ofPort(): Array<PortVlan> {
    const vlans = new Array<PortVlan>();
    if (!this.hasPortVlans) return vlans;
    const native: u16 = this.native != 0 ? this.native : 1;
    vlans.push(new PortVlan(native, native, true, true));
    this.pushTagged(vlans, native);
    return vlans;
  }

  /** The VLANs that an uplink must carry, tagged. */
  ofUplink(): Array<PortVlan> {
    const vlans = new Array<PortVlan>();
    if (this.native != 0) vlans.push(new PortVlan(this.native, this.native, false, false));
    this.pushTagged(vlans, this.native);
    return vlans;
  }

  /** The trunk's VLANs as ranges, without the port's untagged VLAN. */
  private pushTagged(vlans: Array<PortVlan>, without: u16): void {
    let first: i32 = 0;
    for (let id: i32 = 1; id <= <i32>maxVlanId + 1; id++) {
      const isTagged = this.trunk[id] && id != <i32>without;
      if (isTagged && first == 0) first = id;
      if (isTagged || first == 0) continue;
      vlans.push(new PortVlan(<u16>first, <u16>(id - 1), false, false));
      first = 0;
    }
  }
}

/** A VLAN's number; 0 if absent or wrong. */
function trunkId(item: Config, key: string): i32 {
  const id = item.integer(key);
  if (id === null) return 0;
  if (id.value >= 1 && id.value <= maxVlanId) return <i32>id.value;
  item.refuse(key, `must be between 1 and 4094, is ${id.value}`);
  return 0;
}
