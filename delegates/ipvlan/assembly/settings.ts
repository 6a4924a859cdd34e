// The configuration, read like the reference ipvlan does.

import { IpvlanMode } from "plexus/abi/links";
import { Dns, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { ipamType } from "plexus/ipam";
import { quote } from "plexus/json";
import { Master } from "plexus/master";
import { readMtu } from "plexus/mtu";
import { readDns } from "plexus/network-dns";

const topKeys: StaticArray<string> = ["master", "mode", "mtu", "linkInContainer", "ipam", "dns"];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  private constructor(
    readonly fault: Fault | null,
    /** Without a name: the interface of prevResult, or the link of the default route. */
    readonly master: Master,
    readonly mode: IpvlanMode,
    /** 0: the master's MTU. */
    readonly mtu: u32,
    /** "" in a chain: prevResult has the addresses. */
    readonly ipam: string,
    readonly dns: Dns | null,
  ) {}

  static read(network: Network): Settings {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const master = Master.read(root);
    const mode = readMode(root);
    const mtu = readMtu(root);
    const ipam = ipamType(root);
    const dns = readDns(root);
    return new Settings(root.fault, master, mode, mtu, ipam, dns);
  }
}

/** In the order of `IpvlanMode`. */
export const modeNames: Array<string> = ["l2", "l3", "l3s"];

function readMode(root: Config): IpvlanMode {
  const mode = root.string("mode");
  if (mode === null || mode == "") return IpvlanMode.L2;
  const known = modeNames.indexOf(mode);
  if (known >= 0) return <IpvlanMode>known;
  root.refuse("mode", `unknown ipvlan mode: ${quote(mode)}; known are ${modeNames.join(", ")}`);
  return IpvlanMode.L2;
}
