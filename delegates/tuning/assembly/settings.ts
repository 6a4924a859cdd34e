// The configuration, read like the reference tuning does.

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

/** The location of the backup: DEL needs nothing else, so that mistakes in other keys cannot stop it from restoring. */
@final
export class BackupLocation {
  private constructor(
    /** Null: the default. */
    readonly directory: string | null,
    readonly fault: Fault | null,
  ) {}

  static read(network: Network): BackupLocation {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    return new BackupLocation(directoryOf(root), root.fault);
  }
}

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  directory: string | null = null;
  readonly sysctls: Array<Setting> = new Array<Setting>();
  /** In the kernel's spelling; null: unchanged. */
  mac: string | null = null;
  /** False: unchanged. */
  promiscuous: bool = false;
  /** Null: unchanged. */
  mtu: Some<u32> | null = null;
  allMulticast: Some<bool> | null = null;
  txQueueLength: Some<u32> | null = null;
  private macText: string = "";
  private macSource: string = "mac";

  /** Whether any attribute of the interface changes. */
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
    // The administrator's `args` take precedence over all else; even an empty MAC replaces a requested one.
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
        settings.fault = invalidConfig(settings.macSource, `${quote(settings.macText)} is not a MAC address`);
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

  private readMac(config: Config, acceptsEmpty: bool): void {
    const text = config.string("mac");
    if (text === null || (text == "" && !acceptsEmpty)) return;
    this.macText = text;
    this.macSource = config.where("mac");
  }

  private readArg(args: Array<Arg>): void {
    const text = cniArg(args, "MAC");
    if (text === null || text == "") return;
    this.macText = text;
    this.macSource = "MAC of CNI_ARGS";
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
