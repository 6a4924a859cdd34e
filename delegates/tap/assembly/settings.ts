// The configuration, read like the reference tap does.

import { Arg, Dns, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { ipamType } from "plexus/ipam";
import { readMtu } from "plexus/mtu";
import { readDns } from "plexus/network-dns";
import { RequestedMac } from "plexus/requested-mac";
import { Some } from "plexus/some";

const topKeys: StaticArray<string> = [
  "multiQueue",
  "mtu",
  "mac",
  "owner",
  "group",
  "selinuxContext",
  "bridge",
  "ipam",
  "dns",
  "runtimeConfig",
];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  multiQueue: bool = false;
  /** 0: the kernel's default. */
  mtu: u32 = 0;
  /** In the kernel's spelling; null: the kernel chooses one. */
  mac: string | null = null;
  owner: Some<u32> | null = null;
  group: Some<u32> | null = null;
  /** The SELinux context in which the device is made; null: that of Plexus. */
  selinuxContext: string | null = null;
  /** A bridge of the pod whose port the device becomes; "" for none. */
  bridge: string = "";
  ipam: string = "";
  dns: Dns | null = null;

  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.multiQueue = root.bool("multiQueue", false);
    settings.mtu = readMtu(root);
    settings.owner = readId(root, "owner");
    settings.group = readId(root, "group");
    const context = root.string("selinuxContext");
    if (context !== null && context != "") settings.selinuxContext = context;
    const bridge = root.string("bridge");
    if (bridge !== null) settings.bridge = bridge;
    settings.ipam = ipamType(root);
    settings.dns = readDns(root);
    const requested = RequestedMac.read(root, args);
    settings.mac = requested.mac;
    settings.fault = requested.fault;
    const fault = root.fault;
    if (fault !== null) settings.fault = fault;
    return settings;
  }
}

/** The number of a user or a group; null if absent. */
function readId(root: Config, key: string): Some<u32> | null {
  const id = root.integer(key);
  if (id === null) return null;
  if (id.value >= 0 && id.value <= <i64>u32.MAX_VALUE) return new Some<u32>(<u32>id.value);
  root.refuse(key, "must be from 0 to 4294967295");
  return null;
}
