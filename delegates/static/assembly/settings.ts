// The configuration, read like the reference static does: the addresses of `ipam` and `CNI_ARGS`, or in their place those of `args.cni.ips`, or in
// place of all these `runtimeConfig.ips`.

import { Arg, Dns, Fault, Network, Route } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { cniArg, refuseUnknownArgs } from "plexus/conventions";
import { invalidConfig, invalidEnvironment } from "plexus/faults";
import { folded, foldedMember } from "plexus/folded";
import { Ip } from "plexus/ip";
import { quote } from "plexus/json";
import { readDns } from "plexus/network-dns";
import { readRoutes } from "plexus/routes";

const topKeys: StaticArray<string> = ["ipam", "runtimeConfig", "args"];
const ipamKeys: StaticArray<string> = ["type", "addresses", "routes", "dns"];
const addressKeys: StaticArray<string> = ["address", "gateway"];
const cniKeys: StaticArray<string> = ["cni"];
const ipsKeys: StaticArray<string> = ["ips"];
const knownArgs: StaticArray<string> = ["IP", "GATEWAY"];

/** One address of the result. */
@final
export class StaticAddress {
  constructor(
    readonly cidr: Cidr,
    public gateway: Ip | null,
  ) {}
}

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  addresses: Array<StaticAddress> = new Array<StaticAddress>();
  routes: Array<Route> = new Array<Route>();
  dns: Dns | null = null;

  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.readAll(root, args);
    if (root.fault !== null) settings.fault = root.fault;
    if (settings.fault === null) settings.fault = settings.refuseManyAddresses(network.cniVersion);
    return settings;
  }

  private readAll(root: Config, args: Array<Arg>): void {
    const ipam = foldedMember(root, "ipam", ipamKeys);
    if (ipam === null) return root.refuse("ipam", "is missing: it has the addresses");
    ipam.string("type");
    this.readConfigured(ipam);
    this.routes = readRoutes(ipam);
    this.dns = readDns(ipam);
    this.readArgs(args);
    const configArgs = foldedMember(root, "args", cniKeys);
    if (configArgs !== null) this.replaceBy(foldedMember(configArgs, "cni", ipsKeys));
    this.replaceBy(foldedMember(root, "runtimeConfig", ipsKeys));
  }

  private readConfigured(ipam: Config): void {
    const list = ipam.list("addresses");
    for (let i = 0; list !== null && i < list.length; i++) {
      const item = folded(ipam, list.at(i), `addresses[${i}]`, addressKeys);
      if (item === null) continue;
      const text = item.string("address");
      const cidr: Cidr | null = text === null ? null : Cidr.parse(text);
      if (cidr === null) {
        item.refuse("address", text === null ? "is missing" : notCidr(text));
        continue;
      }
      this.addresses.push(new StaticAddress(cidr, readGateway(item)));
    }
  }

  /** `IP` adds addresses; `GATEWAY` is the gateway of those of them whose network contains it. */
  private readArgs(args: Array<Arg>): void {
    this.fault = refuseUnknownArgs(args, knownArgs);
    if (this.fault !== null) return;
    const added = new Array<StaticAddress>();
    const ips = listOf(cniArg(args, "IP"));
    for (let i = 0; i < ips.length; i++) {
      const cidr = Cidr.parse(ips[i]);
      if (cidr === null) return this.refuseArg("IP", notCidr(ips[i]));
      added.push(new StaticAddress(cidr, null));
    }
    const gateways = listOf(cniArg(args, "GATEWAY"));
    for (let i = 0; i < gateways.length; i++) {
      const gateway = Ip.parse(gateways[i]);
      if (gateway === null) return this.refuseArg("GATEWAY", `${quote(gateways[i])} is not an IP address`);
      for (let j = 0; j < added.length; j++) if (added[j].cidr.contains(gateway)) added[j].gateway = gateway;
    }
    this.addresses = this.addresses.concat(added);
  }

  private refuseArg(key: string, why: string): void {
    this.fault = invalidEnvironment(`CNI_ARGS: ${key}: ${why}`);
  }

  /** Addresses of the runtime or of the pod's author replace all others; they have no gateways. */
  private replaceBy(from: Config | null): void {
    if (from === null) return;
    const texts = from.strings("ips");
    if (texts === null || texts.length == 0) return;
    const addresses = new Array<StaticAddress>();
    for (let i = 0; i < texts.length; i++) {
      const cidr = Cidr.parse(texts[i]);
      if (cidr === null) from.refuse(`ips[${i}]`, notCidr(texts[i]));
      else addresses.push(new StaticAddress(cidr, null));
    }
    this.addresses = addresses;
  }

  /** Results older than 0.3.0 have `ip4` and `ip6` instead of a list. */
  private refuseManyAddresses(cniVersion: string): Fault | null {
    if (cniVersion != "" && cniVersion != "0.1.0" && cniVersion != "0.2.0") return null;
    let v4 = 0;
    for (let i = 0; i < this.addresses.length; i++) if (this.addresses[i].cidr.ip.family == 4) v4++;
    if (v4 < 2 && this.addresses.length - v4 < 2) return null;
    return invalidConfig(
      "cniVersion",
      `CNI version ${cniVersion} does not support more than 1 address per family: use 0.3.0 or later`,
    );
  }
}

function readGateway(item: Config): Ip | null {
  const text = item.string("gateway");
  if (text === null || text == "") return null;
  const gateway = Ip.parse(text);
  if (gateway === null) item.refuse("gateway", `${quote(text)} is not an IP address`);
  return gateway;
}

/** The parts between commas; none if absent or empty. */
function listOf(value: string | null): Array<string> {
  if (value === null || value == "") return [];
  const parts = value.split(",");
  for (let i = 0; i < parts.length; i++) parts[i] = parts[i].trim();
  return parts;
}

function notCidr(text: string): string {
  return `${quote(text)} is not an address in CIDR notation such as 10.1.2.3/24`;
}
