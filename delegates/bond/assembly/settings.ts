// The configuration, read like bond-cni does.

import { BondMode, TransmitHash } from "plexus/abi/links";
import { Dns, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded } from "plexus/folded";
import { ipamType } from "plexus/ipam";
import { quote } from "plexus/json";
import { readDns } from "plexus/network-dns";
import { Some } from "plexus/some";

const topKeys: StaticArray<string> = [
  "mode",
  "linksInContainer",
  "failOverMac",
  "miimon",
  "links",
  "mtu",
  "allSlavesActive",
  "tlbDynamicLb",
  "xmitHashPolicy",
  "ipam",
  "dns",
];

/** In the order of `BondMode`. */
export const modeNames: Array<string> = [
  "balance-rr",
  "active-backup",
  "balance-xor",
  "broadcast",
  "802.3ad",
  "balance-tlb",
  "balance-alb",
];
/** In the order of `TransmitHash`. */
const hashNames: Array<string> = ["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"];
const minMtu: i64 = 68;

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  mode: BondMode = BondMode.BalanceRr;
  /** The members are links of the pod; otherwise devices of the node. */
  inPod: bool = false;
  failOverMac: u8 = 0;
  monitorInterval: u32 = 0;
  members: Array<string> = [];
  /** 0: the kernel's default, 1500. */
  mtu: u32 = 0;
  allMembersActive: Some<bool> | null = null;
  dynamicBalancing: Some<bool> | null = null;
  transmitHash: Some<TransmitHash> | null = null;
  ipam: string = "";
  dns: Dns | null = null;

  static read(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.readBond(root);
    settings.readMembers(root);
    settings.ipam = ipamType(root);
    if (settings.ipam == "bond") root.refuse("ipam.type", "bond is not a suitable IPAM type");
    if (settings.ipam != "") settings.dns = readDns(root);
    settings.fault = root.fault;
    return settings;
  }

  /** The members' place alone, for a DEL that mistakes in other keys must not stop. */
  static readPlace(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    settings.readMembers(folded(top, top.json, "", topKeys) as Config);
    return settings;
  }

  private readBond(root: Config): void {
    const mode = root.string("mode");
    const known = mode === null ? -1 : modeNames.indexOf(mode);
    if (known < 0)
      root.refuse("mode", `bonding mode ${quote(mode === null ? "" : mode)} is not supported; known are ${modeNames.join(", ")}`);
    else this.mode = <BondMode>known;
    this.failOverMac = <u8>numberOf(root, "failOverMac", 2);
    const interval = root.string("miimon");
    const milliseconds = interval === null ? -1 : digits(interval);
    if (milliseconds < 0)
      root.refuse("miimon", `${quote(interval === null ? "" : interval)} is not a number of milliseconds in a string`);
    else this.monitorInterval = <u32>milliseconds;
    const mtu = root.integer("mtu");
    if (mtu !== null && mtu.value != 0) {
      if (mtu.value < minMtu || mtu.value > <i64>i32.MAX_VALUE)
        root.refuse("mtu", `invalid bond MTU ${mtu.value}, should be ${minMtu} or bigger`);
      else this.mtu = <u32>mtu.value;
    }
    if (root.has("allSlavesActive")) this.allMembersActive = new Some<bool>(numberOf(root, "allSlavesActive", 1) == 1);
    if (root.has("tlbDynamicLb")) {
      if (this.mode != BondMode.BalanceTlb && this.mode != BondMode.BalanceAlb)
        root.refuse("tlbDynamicLb", "is only supported in balance-tlb or balance-alb mode");
      this.dynamicBalancing = new Some<bool>(numberOf(root, "tlbDynamicLb", 1) == 1);
    }
    const hash = root.string("xmitHashPolicy");
    if (hash === null) return;
    const policy = hashNames.indexOf(hash);
    if (policy < 0) root.refuse("xmitHashPolicy", `${quote(hash)} is not supported; known are ${hashNames.join(", ")}`);
    else this.transmitHash = new Some<TransmitHash>(<TransmitHash>policy);
  }

  private readMembers(root: Config): void {
    this.inPod = root.bool("linksInContainer", false);
    const links = root.objects("links");
    for (let i = 0; i < links.length; i++) {
      const name = links[i].string("name");
      if (name === null) root.refuse(`links[${i}].name`, "failed to find link name");
      else this.members.push(name);
    }
    if (links.length < 2) root.refuse("links", `bonding requires at least two links, we have ${links.length}`);
  }
}

/** A number from 0 to `max`; 0 if absent. */
function numberOf(root: Config, key: string, max: i64): i64 {
  const number = root.integer(key);
  if (number === null) return 0;
  if (number.value >= 0 && number.value <= max) return number.value;
  root.refuse(key, `should be from 0 to ${max}, is ${number.value}`);
  return 0;
}

/** The number in decimal digits; -1 for another text. */
function digits(text: string): i64 {
  if (text.length == 0 || text.length > 9) return -1;
  let value: i64 = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
