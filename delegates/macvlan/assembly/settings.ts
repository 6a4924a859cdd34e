// The configuration, read like the reference macvlan does.

import { MacvlanMode } from "plexus/abi/links";
import { Arg, Dns, Fault, Network } from "plexus/abi/types";
import { ConflictDetection } from "plexus/conflict-detection";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { ipamType } from "plexus/ipam";
import { quote } from "plexus/json";
import { Master } from "plexus/master";
import { readDns } from "plexus/network-dns";
import { RequestedMac } from "plexus/requested-mac";
import { Some } from "plexus/some";

const topKeys: StaticArray<string> = [
  "master",
  "mode",
  "mtu",
  "mac",
  "linkInContainer",
  "bcqueuelen",
  "ipam",
  "dns",
  "runtimeConfig",
];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  /** Without a name: the link of the default route. */
  master: Master = new Master();
  mode: MacvlanMode = MacvlanMode.Bridge;
  /** 0: the master's MTU. */
  mtu: i64 = 0;
  /** In the kernel's spelling; null: the kernel chooses one. */
  mac: string | null = null;
  broadcastQueue: Some<u32> | null = null;
  ipam: string = "";
  conflictDetection: ConflictDetection | null = null;
  dns: Dns | null = null;

  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.readLink(root);
    settings.ipam = ipamType(root);
    settings.conflictDetection = ConflictDetection.read(root);
    settings.dns = readDns(root);
    const requested = RequestedMac.read(root, args);
    settings.mac = requested.mac;
    settings.fault = requested.fault;
    const fault = root.fault;
    if (fault !== null) settings.fault = fault;
    return settings;
  }

  private readLink(root: Config): void {
    this.master = Master.read(root);
    const mode = root.string("mode");
    if (mode !== null && mode != "") {
      const known = modeNames.indexOf(mode);
      if (known < 0) root.refuse("mode", `unknown macvlan mode: ${quote(mode)}; known are ${modeNames.join(", ")}`);
      else this.mode = <MacvlanMode>known;
    }
    const mtu = root.integer("mtu");
    if (mtu !== null) this.mtu = mtu.value;
    const queue = root.integer("bcqueuelen");
    if (queue === null) return;
    if (queue.value < 0 || queue.value > <i64>u32.MAX_VALUE) root.refuse("bcqueuelen", "must be from 0 to 4294967295");
    else if (queue.value > 0) this.broadcastQueue = new Some<u32>(<u32>queue.value);
  }
}

/** In the order of `MacvlanMode`. */
export const modeNames: Array<string> = ["bridge", "private", "vepa", "passthru"];
