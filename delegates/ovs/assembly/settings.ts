// The configuration, read like ovs-cni does.

import { Arg, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { cniArg } from "plexus/conventions";
import { folded, foldedMember } from "plexus/folded";
import { ipamType } from "plexus/ipam";
import { quote } from "plexus/json";
import { readMtu } from "plexus/mtu";
import { RequestedMac } from "plexus/requested-mac";
import { Some } from "plexus/some";
import { Vlans } from "./vlans";

const topKeys: StaticArray<string> = [
  "bridge",
  "vlan",
  "trunk",
  "mtu",
  "mac",
  "ofport_request",
  "interface_type",
  "deviceID",
  "socket_file",
  "configuration_path",
  "link_state_check_retries",
  "link_state_check_interval",
  "ipam",
  "args",
  "runtimeConfig",
];
const argsKeys: StaticArray<string> = ["cni"];
const podKeys: StaticArray<string> = ["mac", "ovnPort"];
const knownArgs: StaticArray<string> = ["MAC", "OvnPort"];
/** The bridge of a port that OVN knows. */
const fabricBridge = "br-int";
/** OpenFlow reserves the numbers above. */
const maxNumber: i64 = 65_279;

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  bridge: string = "";
  vlans: Vlans = new Vlans(null, null);
  /** 0: the kernel's default. */
  mtu: u32 = 0;
  /** In the kernel's spelling; null: the kernel chooses one. */
  mac: string | null = null;
  /** The port's `iface-id`; "": none. */
  ovnPort: string = "";
  /** Null: Open vSwitch chooses the port's number. */
  number: Some<u32> | null = null;
  /** Longest wait for ovs-vswitchd, in milliseconds. */
  waitMs: u32 = 3000;
  ipam: string = "";

  /** The settings of an attachment. */
  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const root = settings.readAll(network, args);
    if (settings.bridge == "" && settings.ovnPort != "") settings.bridge = fabricBridge;
    if (settings.bridge == "") root.refuse("bridge", "is missing: name the bridge of Open vSwitch, or request an ovnPort");
    settings.keepFault(root);
    return settings;
  }

  /** The settings of all attachments. `bridge` may be missing: an attachment's `ovnPort` stands for it. */
  static readShared(network: Network): Settings {
    const settings = new Settings();
    settings.keepFault(settings.readAll(network, []));
    return settings;
  }

  private keepFault(root: Config): void {
    const fault = root.fault;
    if (fault !== null) this.fault = fault;
  }

  private readAll(network: Network, args: Array<Arg>): Config {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const bridge = root.string("bridge");
    if (bridge !== null) this.bridge = bridge;
    this.vlans = Vlans.read(root);
    this.mtu = readMtu(root);
    this.ipam = ipamType(root);
    this.readPort(root);
    this.readPodArgs(root, args);
    refuseImpossible(root);
    return root;
  }

  private readPort(root: Config): void {
    const number = root.integer("ofport_request");
    if (number !== null && number.value != 0) {
      if (number.value < 1 || number.value > maxNumber)
        root.refuse("ofport_request", `must be from 1 to ${maxNumber}, is ${number.value}`);
      else this.number = new Some<u32>(<u32>number.value);
    }
    const retries = positive(root, "link_state_check_retries", 5);
    const interval = positive(root, "link_state_check_interval", 600);
    this.waitMs = <u32>min<i64>(retries * interval, 60_000);
  }

  /** `mac` and `ovnPort`: those of CNI_ARGS come before those of `args.cni`. */
  private readPodArgs(root: Config, given: Array<Arg>): void {
    const args = spelled(given);
    const all = foldedMember(root, "args", argsKeys);
    const ofPod: Config | null = all === null ? null : foldedMember(all, "cni", podKeys);
    const requested = RequestedMac.read(root, args, knownArgs, ofPod);
    this.mac = requested.mac;
    this.fault = requested.fault;
    const port = cniArg(args, "OvnPort");
    if (port !== null && port != "") this.ovnPort = port;
    else if (ofPod !== null) {
      const text = ofPod.string("ovnPort");
      if (text !== null) this.ovnPort = text;
    }
  }
}

/** The pairs of CNI_ARGS with known keys in their own spelling: ovs-cni accepts any case. */
function spelled(args: Array<Arg>): Array<Arg> {
  const pairs = new Array<Arg>();
  for (let i = 0; i < args.length; i++) {
    let key = args[i].key;
    for (let k = 0; k < knownArgs.length; k++) if (key.toLowerCase() == knownArgs[k].toLowerCase()) key = knownArgs[k];
    pairs.push(new Arg(key, args[i].value));
  }
  return pairs;
}

/** A number of the configuration from 1 to 60000; `standard` if it is absent or 0. */
function positive(root: Config, key: string, standard: i64): i64 {
  const number = root.integer(key);
  if (number === null || number.value == 0) return standard;
  if (number.value > 0 && number.value <= 60_000) return number.value;
  root.refuse(key, `must be from 1 to 60000, is ${number.value}`);
  return standard;
}

function refuseImpossible(root: Config): void {
  const type = root.string("interface_type");
  if (type !== null && type != "" && type != "system")
    root.refuse("interface_type", `${quote(type)} is not possible: the port is the node's end of a veth, whose type is "system"`);
  refuseText(
    root,
    "socket_file",
    "is not possible: the grant names the database's socket (wasm.grants, ovs.socket), so that no network can choose another",
  );
  refuseText(
    root,
    "configuration_path",
    "is not possible: a sandboxed delegate reads no files. Put the file's keys into this configuration, and socket_file into the grant (ovs.socket)",
  );
  refuseText(
    root,
    "deviceID",
    "is not possible: the port would be the representor of a virtual function. Leave the device's resource out for a veth, or use the native ovs-cni for such pods",
  );
}

function refuseText(root: Config, key: string, why: string): void {
  const text = root.string(key);
  if (text !== null && text != "") root.refuse(key, why);
}
