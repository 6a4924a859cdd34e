// The configuration, read like the reference ptp does.

import { Dns, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { readSetDns } from "plexus/network-dns";
import { folded } from "plexus/folded";
import { requiredIpamType } from "plexus/ipam";
import { Some } from "plexus/some";

const topKeys: StaticArray<string> = ["ipMasq", "ipMasqBackend", "mtu", "ipam", "dns"];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  ipMasq: bool = false;
  /** Null: the kernel's. */
  mtu: Some<u32> | null = null;
  /** Type of the IPAM plugin. */
  ipam: string = "";
  /** The network's own; null: IPAM's counts. */
  dns: Dns | null = null;

  static read(network: Network): Settings {
    const settings = new Settings();
    const root = settings.readRest(network);
    settings.dns = readSetDns(root);
    const backend = root.string("ipMasqBackend");
    if (backend !== null && backend != "" && backend != "iptables" && backend != "nftables")
      root.refuse("ipMasqBackend", 'must be "iptables" or "nftables"');
    const mtu = root.integer("mtu");
    if (mtu !== null && (mtu.value < 0 || mtu.value > <i64>i32.MAX_VALUE))
      root.refuse("mtu", `must be a number of bytes, is ${mtu.value}`);
    else if (mtu !== null && mtu.value > 0) settings.mtu = new Some<u32>(<u32>mtu.value);
    settings.fault = root.fault;
    return settings;
  }

  /** Reads only the settings that DEL and GC need, so that mistakes in other keys cannot stop these verbs. */
  static readForCleaning(network: Network): Settings {
    const settings = new Settings();
    settings.fault = settings.readRest(network).fault;
    return settings;
  }

  /** The key that makes rules; "" for none. */
  get ruleSetting(): string {
    return this.ipMasq ? "ipMasq" : "";
  }

  private readRest(network: Network): Config {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    this.ipMasq = root.bool("ipMasq", false);
    this.ipam = requiredIpamType(root);
    return root;
  }
}
