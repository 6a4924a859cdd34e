// The configuration, read like the reference macvlan does.

import { LinkName, MacvlanMode, Place } from "plexus/abi/links";
import { Arg, Dns, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { cniArg, refuseUnknownArgs } from "plexus/conventions";
import { invalidConfig } from "plexus/faults";
import { folded, foldedMember } from "plexus/folded";
import { quote } from "plexus/json";
import { readMac } from "plexus/mac";
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
const ipamKeys: StaticArray<string> = ["type"];
const dnsKeys: StaticArray<string> = ["nameservers", "domain", "search", "options"];
const runtimeKeys: StaticArray<string> = ["mac"];
const knownArgs: StaticArray<string> = ["MAC"];

/** The IPAM plugin: DEL and GC need nothing else, so that mistakes in other keys cannot stop them. */
@final
export class Ipam {
  private constructor(
    /** "" for none: the interface gets no addresses. */
    readonly type: string,
    readonly fault: Fault | null,
  ) {}

  static read(network: Network): Ipam {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    return new Ipam(ipamType(root), root.fault);
  }
}

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  /** "": the link of the default route. */
  master: string = "";
  mode: MacvlanMode = MacvlanMode.Bridge;
  /** 0: the master's MTU. */
  mtu: i64 = 0;
  /** In the kernel's spelling; null: the kernel chooses one. */
  mac: string | null = null;
  /** The namespace of the master. */
  place: Place = Place.Host;
  broadcastQueue: Some<u32> | null = null;
  ipam: string = "";
  dns: Dns | null = null;

  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.readLink(root);
    settings.ipam = ipamType(root);
    settings.dns = readDns(root);
    settings.mac = settings.readMac(root, args);
    if (settings.fault === null) settings.fault = refuseUnknownArgs(args, knownArgs);
    const fault = root.fault;
    if (fault !== null) settings.fault = fault;
    return settings;
  }

  get masterLink(): LinkName {
    return new LinkName(this.place, this.master);
  }

  private readLink(root: Config): void {
    const master = root.string("master");
    if (master !== null) this.master = master;
    const mode = root.string("mode");
    if (mode !== null && mode != "") {
      const known = modeNames.indexOf(mode);
      if (known < 0) root.refuse("mode", `unknown macvlan mode: ${quote(mode)}; known are ${modeNames.join(", ")}`);
      else this.mode = <MacvlanMode>known;
    }
    const mtu = root.integer("mtu");
    if (mtu !== null) this.mtu = mtu.value;
    if (root.bool("linkInContainer", false)) this.place = Place.Pod;
    const queue = root.integer("bcqueuelen");
    if (queue === null) return;
    if (queue.value < 0 || queue.value > <i64>u32.MAX_VALUE) root.refuse("bcqueuelen", "must be from 0 to 4294967295");
    else if (queue.value > 0) this.broadcastQueue = new Some<u32>(<u32>queue.value);
  }

  /** `mac` of the configuration; MAC of CNI_ARGS takes precedence over it, and `runtimeConfig.mac` over both. */
  private readMac(root: Config, args: Array<Arg>): string | null {
    let source = "mac";
    let text = root.string("mac");
    const arg = cniArg(args, "MAC");
    if (arg !== null && arg != "") {
      source = "MAC of CNI_ARGS";
      text = arg;
    }
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    const runtimeMac: string | null = runtime === null ? null : runtime.string("mac");
    if (runtimeMac !== null && runtimeMac != "") {
      source = "runtimeConfig.mac";
      text = runtimeMac;
    }
    if (text === null || text == "") return null;
    const mac = readMac(text);
    if (mac === null) this.fault = invalidConfig(source, `${quote(text)} is not a MAC address`);
    return mac;
  }
}

/** In the order of `MacvlanMode`. */
export const modeNames: Array<string> = ["bridge", "private", "vepa", "passthru"];

function ipamType(root: Config): string {
  const ipam = foldedMember(root, "ipam", ipamKeys);
  const type: string | null = ipam === null ? null : ipam.string("type");
  return type === null ? "" : type;
}

/** The network's own `dns`; null if it has no content. */
function readDns(root: Config): Dns | null {
  const config = foldedMember(root, "dns", dnsKeys);
  if (config === null) return null;
  const dns = new Dns();
  const nameservers = config.strings("nameservers");
  if (nameservers !== null) dns.nameservers = nameservers;
  const domain = config.string("domain");
  if (domain !== null && domain != "") dns.domain = domain;
  const search = config.strings("search");
  if (search !== null) dns.search = search;
  const options = config.strings("options");
  if (options !== null) dns.options = options;
  return dns;
}
