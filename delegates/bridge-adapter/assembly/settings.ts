// The configuration of the reference plugin bridge, read and checked like there.

import { Arg, Fault, Network } from "plexus/abi/types";
import { ConflictDetection } from "plexus/conflict-detection";
import { Config } from "plexus/config";
import { cniArg, refuseUnknownArgs } from "plexus/conventions";
import { invalidEnvironment } from "plexus/faults";
import { folded, foldedMember } from "plexus/folded";
import { quote } from "plexus/json";
import { readMac } from "plexus/mac";
import { Some } from "plexus/some";
import { Vlans } from "./vlans";

const keys: StaticArray<string> = [
  "bridge",
  "isGateway",
  "isDefaultGateway",
  "forceAddress",
  "ipMasq",
  "ipMasqBackend",
  "mtu",
  "hairpinMode",
  "promiscMode",
  "vlan",
  "vlanTrunk",
  "preserveDefaultVlan",
  "portIsolation",
  "macspoofchk",
  "enabledad",
  "disableContainerInterface",
  "uplinkInterface",
  "backend",
  "ipam",
  "dns",
  "args",
  "runtimeConfig",
];
const typeKeys: StaticArray<string> = ["type"];
const cniKeys: StaticArray<string> = ["cni"];
const macKeys: StaticArray<string> = ["mac"];
const knownArgs: StaticArray<string> = ["MAC"];

/** All settings of a network. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  bridge: string = "cni0";
  isGateway: bool = false;
  isDefaultGateway: bool = false;
  forceAddress: bool = false;
  ipMasq: bool = false;
  mtu: Some<u32> | null = null;
  hairpin: bool = false;
  promiscuous: bool = false;
  vlans: Vlans = new Vlans();
  preserveDefaultVlan: bool = false;
  portIsolation: bool = false;
  macSpoofCheck: bool = false;
  enableDad: bool = false;
  disableContainerInterface: bool = false;
  uplink: string = "";
  /** The requested MAC of the pod. */
  mac: string | null = null;
  /** Type of the IPAM plugin; "" for a layer-2-only bridge. */
  ipam: string = "";
  /** Null: addresses are not probed for. */
  conflictDetection: ConflictDetection | null = null;
  /** Whether the native plugin makes the links. */
  native: bool = false;
  /** The configuration, with keys in this file's spelling. */
  readonly config: Config;

  private constructor(config: Config) {
    this.config = config;
  }

  /** Reads a network's configuration and the requests of CNI_ARGS. */
  static read(network: Network, args: Array<Arg>): Settings {
    const settings = Settings.open(network);
    if (settings.fault === null) settings.readAll(args);
    return settings;
  }

  /** Reads only the settings that DEL, GC and STATUS need, so that mistakes in other keys cannot stop these verbs. */
  static readRest(network: Network): Settings {
    const settings = Settings.open(network);
    if (settings.fault === null) settings.readBackend();
    return settings;
  }

  private static open(network: Network): Settings {
    const top = Config.of(network);
    const settings = new Settings(folded(top, top.json, "", keys) as Config);
    settings.fault = top.fault;
    return settings;
  }

  private readBackend(): void {
    const config = this.config;
    this.ipMasq = config.bool("ipMasq", false);
    this.macSpoofCheck = config.bool("macspoofchk", false);
    const ipam = foldedMember(config, "ipam", typeKeys);
    const type = ipam !== null ? ipam.string("type") : null;
    if (type !== null) this.ipam = type;
    this.conflictDetection = ConflictDetection.read(config);
    const backend = config.string("backend");
    this.native = backend !== null && backend == "native";
    if (backend !== null && !this.native && backend != "links") config.refuse("backend", 'must be "links" or "native"');
    if (this.native && this.conflictDetection !== null)
      config.refuse("ipam.conflictDetection", 'can\'t be set together with backend "native", which asks no neighbour');
    this.fault = config.fault;
  }

  private readAll(args: Array<Arg>): void {
    const config = this.config;
    this.readBackend();
    const bridge = config.string("bridge");
    if (bridge !== null) this.bridge = bridge;
    this.isDefaultGateway = config.bool("isDefaultGateway", false);
    this.isGateway = config.bool("isGateway", false) || this.isDefaultGateway;
    this.forceAddress = config.bool("forceAddress", false);
    const masqBackend = config.string("ipMasqBackend");
    if (masqBackend !== null && masqBackend != "" && masqBackend != "iptables" && masqBackend != "nftables")
      config.refuse("ipMasqBackend", 'must be "iptables" or "nftables"');
    const mtu = config.integer("mtu");
    if (mtu !== null && (mtu.value < 0 || mtu.value > <i64>i32.MAX_VALUE))
      config.refuse("mtu", `must be a number of bytes, is ${mtu.value}`);
    else if (mtu !== null && mtu.value > 0) this.mtu = new Some<u32>(<u32>mtu.value);
    this.hairpin = config.bool("hairpinMode", false);
    this.promiscuous = config.bool("promiscMode", false);
    if (this.hairpin && this.promiscuous) config.refuse("hairpinMode", "can't be set together with promiscMode");
    this.vlans = Vlans.read(config);
    this.preserveDefaultVlan = config.bool("preserveDefaultVlan", false);
    this.portIsolation = config.bool("portIsolation", false);
    this.enableDad = config.bool("enabledad", false);
    this.disableContainerInterface = config.bool("disableContainerInterface", false);
    if (this.disableContainerInterface && this.isLayer3)
      config.refuse(
        "disableContainerInterface",
        "can't be set together with ipam: an interface that is down can't use addresses",
      );
    const uplink = config.string("uplinkInterface");
    if (uplink !== null) this.uplink = uplink;
    this.fault = config.fault;
    if (this.fault === null) this.readMacs(args);
  }

  /**
   * `MAC` of CNI_ARGS; `args.cni.mac` takes precedence over it, and `runtimeConfig.mac` over both. An empty text counts as
   * absent.
   */
  private readMacs(args: Array<Arg>): void {
    this.fault = refuseUnknownArgs(args, knownArgs);
    if (this.fault !== null) return;
    const config = this.config;
    const runtime = foldedMember(config, "runtimeConfig", macKeys);
    this.takeMac(runtime);
    const fromArgs = foldedMember(config, "args", cniKeys);
    if (fromArgs !== null) this.takeMac(foldedMember(fromArgs, "cni", macKeys));
    this.fault = config.fault;
    const macArg = cniArg(args, "MAC");
    if (this.mac !== null || this.fault !== null || macArg === null || macArg == "") return;
    this.mac = readEthernetMac(macArg);
    if (this.mac === null) this.fault = invalidEnvironment(`CNI_ARGS: MAC=${quote(macArg)} is not a MAC address`);
  }

  private takeMac(from: Config | null): void {
    const text = from !== null ? from.string("mac") : null;
    if (from === null || text === null || text == "" || this.mac !== null) return;
    this.mac = readEthernetMac(text);
    if (this.mac === null) from.refuse("mac", `${quote(text)} is not a MAC address such as 0a:58:0a:01:00:02`);
  }

  /** Whether attachments need firewall rules. */
  get hasRules(): bool {
    return this.macSpoofCheck || (this.ipMasq && this.isLayer3);
  }

  get isLayer3(): bool {
    return this.ipam != "";
  }
}

/** An Ethernet MAC in the kernel's spelling; null if malformed. */
function readEthernetMac(text: string): string | null {
  const mac = readMac(text);
  return mac !== null && mac.length == 17 ? mac : null;
}
