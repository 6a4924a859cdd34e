// The configuration, read like the reference vlan does.

import { Dns, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { requiredIpamType } from "plexus/ipam";
import { Master } from "plexus/master";
import { readDns } from "plexus/network-dns";

const topKeys: StaticArray<string> = ["master", "vlanId", "mtu", "linkInContainer", "ipam", "dns"];
const maxVlan: i64 = 4094;

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  private constructor(
    readonly fault: Fault | null,
    readonly master: Master,
    readonly vlan: u16,
    /** 0: the master's MTU. */
    readonly mtu: i64,
    readonly ipam: string,
    readonly dns: Dns | null,
  ) {}

  static read(network: Network): Settings {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const master = Master.read(root);
    if (master.name == "") root.refuse("master", "is missing: set it to the link on which the VLAN is made");
    const id = root.integer("vlanId");
    if (id !== null && (id.value < 0 || id.value > maxVlan))
      root.refuse("vlanId", `invalid VLAN ID ${id.value} (must be between 0 and ${maxVlan})`);
    const mtu = root.integer("mtu");
    const ipam = requiredIpamType(root);
    const dns = readDns(root);
    return new Settings(root.fault, master, id === null ? 0 : <u16>id.value, mtu === null ? 0 : mtu.value, ipam, dns);
  }
}
