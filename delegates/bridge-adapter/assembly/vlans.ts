// The VLANs of the attachment's port: one native VLAN, and those of a trunk.

import { PortVlan } from "plexus/abi/links";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";

const trunkKeys: StaticArray<string> = ["minID", "maxID", "id"];
const highestId: i64 = 4094;

@final
export class Vlans {
  /** The native VLAN; 0: none. */
  native: u16 = 0;
  /** Whether the configuration has a trunk, be it empty. */
  hasTrunk: bool = false;
  /** The trunk's VLANs, by number. */
  private readonly trunk: StaticArray<bool> = new StaticArray<bool>(4096);
  private trunked: bool = false;

  /** Reads `vlan` and `vlanTrunk`; what is wrong is in the configuration's fault. */
  static read(config: Config): Vlans {
    const vlans = new Vlans();
    const native = config.integer("vlan");
    if (native !== null) {
      if (native.value < 0 || native.value > highestId) config.refuse("vlan", `must be between 0 and 4094, is ${native.value}`);
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
    if (min != 0) for (let each = min; each <= max; each++) this.take(each);
    if (id != 0) this.take(id);
  }

  private take(id: i32): void {
    this.trunk[id] = true;
    this.trunked = true;
  }

  /** Whether the bridge has to tell VLANs apart. */
  get needFiltering(): bool {
    return this.native != 0 || this.hasTrunk;
  }

  /** Whether the port is in VLANs of its own. */
  get any(): bool {
    return this.native != 0 || this.trunked;
  }

  /** The port's VLANs. A trunk without a native VLAN has VLAN 1 for it, as the reference has it. */
  ofPort(): Array<PortVlan> {
    const vlans = new Array<PortVlan>();
    if (!this.any) return vlans;
    const native: u16 = this.native != 0 ? this.native : 1;
    vlans.push(new PortVlan(native, native, true, true));
    this.pushTagged(vlans, native);
    return vlans;
  }

  /** The VLANs that have to pass an uplink, tagged. */
  ofUplink(): Array<PortVlan> {
    const vlans = new Array<PortVlan>();
    if (this.native != 0) vlans.push(new PortVlan(this.native, this.native, false, false));
    this.pushTagged(vlans, this.native);
    return vlans;
  }

  /** The trunk's VLANs in ranges, without the one that the port has untagged. */
  private pushTagged(vlans: Array<PortVlan>, without: u16): void {
    let first: i32 = 0;
    for (let id: i32 = 1; id <= <i32>highestId + 1; id++) {
      const here = this.trunk[id] && id != <i32>without;
      if (here && first == 0) first = id;
      if (here || first == 0) continue;
      vlans.push(new PortVlan(<u16>first, <u16>(id - 1), false, false));
      first = 0;
    }
  }
}

/** A VLAN's number; 0: absent, or wrong. */
function trunkId(item: Config, key: string): i32 {
  const id = item.integer(key);
  if (id === null) return 0;
  if (id.value >= 1 && id.value <= highestId) return <i32>id.value;
  item.refuse(key, `must be between 1 and 4094, is ${id.value}`);
  return 0;
}
