// The configuration, read as the reference tuning reads it.

import { Setting } from "plexus/abi/sysctl";
import { Arg, Attachment, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { cniArg, refuseUnknownArgs } from "plexus/conventions";
import { invalidConfig } from "plexus/faults";
import { folded, foldedMember } from "plexus/folded";
import { quote } from "plexus/json";
import { readMac } from "plexus/mac";
import { Some } from "plexus/some";
import { Sysctls } from "./sysctls";

const topKeys: StaticArray<string> = [
  "dataDir",
  "sysctl",
  "mac",
  "promisc",
  "mtu",
  "txQLen",
  "allmulti",
  "runtimeConfig",
  "args",
];
const runtimeKeys: StaticArray<string> = ["mac"];
const argsKeys: StaticArray<string> = ["cni"];
const cniKeys: StaticArray<string> = ["sysctl", "mac", "promisc", "mtu", "txQLen", "allmulti"];
const knownArgs: StaticArray<string> = ["MAC"];

/** Where the backup is: all that DEL needs, so that nothing else of a configuration keeps it from restoring. */
@final
export class Place {
  private constructor(
    /** Null for the default. */
    readonly directory: string | null,
    readonly fault: Fault | null,
  ) {}

  static read(network: Network): Place {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    return new Place(directoryOf(root), root.fault);
  }
}

/** All settings. If there is a fault, nothing else counts. */
@final
export class Settings {
  fault: Fault | null = null;
  directory: string | null = null;
  readonly sysctls: Array<Setting> = new Array<Setting>();
  /** As the kernel spells it; null: it stays. */
  mac: string | null = null;
  /** False: it stays. */
  promiscuous: bool = false;
  /** Null: it stays. */
  mtu: Some<u32> | null = null;
  allMulticast: Some<bool> | null = null;
  txQueueLength: Some<u32> | null = null;
  private macText: string = "";
  private macPlace: string = "mac";

  /** Whether anything of the interface itself is to be changed. */
  get changesLink(): bool {
    return (
      this.mac !== null || this.promiscuous || this.mtu !== null || this.allMulticast !== null || this.txQueueLength !== null
    );
  }

  static read(network: Network, attachment: Attachment): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.directory = directoryOf(root);
    const sysctls = new Sysctls(attachment.ifname);
    sysctls.add(root, "sysctl", false);
    settings.readLink(root);
    settings.readArg(attachment.args);
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    if (runtime !== null) settings.readMac(runtime, false);
    // What the administrator's `args` say wins over all else, an empty MAC over one that was asked for.
    const args = foldedMember(root, "args", argsKeys);
    const cni: Config | null = args === null ? null : foldedMember(args, "cni", cniKeys);
    if (cni !== null) {
      sysctls.add(cni, "sysctl", true);
      settings.readLink(cni);
      settings.readMac(cni, true);
    }
    for (let i = 0; i < sysctls.settings.length; i++) settings.sysctls.push(sysctls.settings[i]);
    settings.fault = root.fault;
    if (settings.fault === null) settings.fault = refuseUnknownArgs(attachment.args, knownArgs);
    if (settings.fault === null && settings.macText != "") {
      settings.mac = readMac(settings.macText);
      if (settings.mac === null)
        settings.fault = invalidConfig(settings.macPlace, `${quote(settings.macText)} is not a MAC address`);
    }
    return settings;
  }

  private readLink(config: Config): void {
    if (config.path == "") this.readMac(config, false);
    this.promiscuous = config.bool("promisc", this.promiscuous);
    const mtu = readLength(config, "mtu");
    if (mtu !== null) this.mtu = mtu.value == 0 ? null : mtu;
    const queue = readLength(config, "txQLen");
    if (queue !== null) this.txQueueLength = queue;
    if (config.has("allmulti")) this.allMulticast = new Some<bool>(config.bool("allmulti", false));
  }

  private readMac(config: Config, evenEmpty: bool): void {
    const text = config.string("mac");
    if (text === null || (text == "" && !evenEmpty)) return;
    this.macText = text;
    this.macPlace = config.where("mac");
  }

  private readArg(args: Array<Arg>): void {
    const text = cniArg(args, "MAC");
    if (text === null || text == "") return;
    this.macText = text;
    this.macPlace = "MAC of CNI_ARGS";
  }
}

function readLength(config: Config, key: string): Some<u32> | null {
  const number = config.integer(key);
  if (number === null) return null;
  if (number.value < 0 || number.value > <i64>u32.MAX_VALUE) {
    config.refuse(key, "must be from 0 to 4294967295");
    return null;
  }
  return new Some<u32>(<u32>number.value);
}

function directoryOf(root: Config): string | null {
  const directory = root.string("dataDir");
  return directory === null || directory == "" ? null : directory;
}
