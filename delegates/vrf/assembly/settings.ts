// The configuration, read like the reference vrf does, and the delegate's own error codes (100 and up); README.md lists them.

import { LinkName, Place } from "plexus/abi/links";
import { Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";

const topKeys: StaticArray<string> = ["vrfname", "table"];

/** The pod has no interface of this name. */
export const NO_INTERFACE: u32 = 100;
/** The interface has another master. */
export const HAS_MASTER: u32 = 101;
/** CHECK: the interface is not in the VRF. */
export const DIFFERS: u32 = 102;

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  private constructor(
    readonly fault: Fault | null,
    readonly vrf: string,
    /** 0: a free table. */
    readonly table: u32,
  ) {}

  static read(network: Network): Settings {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const name = root.string("vrfname");
    if (name === null || name == "") root.refuse("vrfname", "is missing: set it to the name of the VRF");
    const table = root.integer("table");
    if (table !== null && (table.value < 0 || table.value > <i64>u32.MAX_VALUE))
      root.refuse("table", "must be from 0 to 4294967295");
    return new Settings(root.fault, name === null ? "" : name, table === null ? 0 : <u32>table.value);
  }

  get link(): LinkName {
    return new LinkName(Place.Pod, this.vrf);
  }
}
