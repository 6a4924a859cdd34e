// The configuration, read like the reference sbr does.

import { Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { Some } from "plexus/some";

const keys: StaticArray<string> = ["table"];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  /** The table that the rules look up, whose routes are another plugin's. Null: tables of this plugin's own. */
  table: Some<u32> | null = null;

  static read(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", keys) as Config;
    const table = root.integer("table");
    if (table !== null) {
      if (table.value < 1 || table.value > <i64>u32.MAX_VALUE) root.refuse("table", "must be from 1 to 4294967295");
      else settings.table = new Some<u32>(<u32>table.value);
    }
    settings.fault = root.fault;
    return settings;
  }
}
