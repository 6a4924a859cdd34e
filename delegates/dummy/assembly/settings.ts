// The configuration, read like the reference dummy does.

import { Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { requiredIpamType } from "plexus/ipam";

const topKeys: StaticArray<string> = ["ipam"];

/** All settings. With a fault, the other field must not be used. */
@final
export class Settings {
  private constructor(
    readonly fault: Fault | null,
    readonly ipam: string,
  ) {}

  static read(network: Network): Settings {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const ipam = requiredIpamType(root);
    return new Settings(root.fault, ipam);
  }
}
