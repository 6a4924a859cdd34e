// The configuration, read like sriov-cni does.

import { DeviceSelector, VfLinkState, VfSettings } from "plexus/abi/links";
import { Arg, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded, foldedMember } from "plexus/folded";
import { ipamType } from "plexus/ipam";
import { quote } from "plexus/json";
import { RequestedMac } from "plexus/requested-mac";
import { Some } from "plexus/some";

const topKeys: StaticArray<string> = [
  "deviceID",
  "vlan",
  "vlanQoS",
  "vlanProto",
  "mac",
  "spoofchk",
  "trust",
  "link_state",
  "min_tx_rate",
  "max_tx_rate",
  "ipam",
  "runtimeConfig",
];
const runtimeKeys: StaticArray<string> = ["deviceID"];
const maxVlan: i64 = 4094;
const maxQos: i64 = 7;
/** In the order of `VfLinkState`. */
const linkStates: StaticArray<string> = ["auto", "enable", "disable"];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  /** `runtimeConfig.deviceID`, or else `deviceID`: the PCI address of the virtual function. */
  deviceId: string = "";
  /** In the kernel's spelling; null: the function keeps its MAC. */
  mac: string | null = null;
  /** The settings of the virtual function at its physical function; null: none is set. */
  vf: VfSettings | null = null;
  ipam: string = "";

  /** `needsDevice`: false for STATUS, whose configuration has no `runtimeConfig`. */
  static read(network: Network, args: Array<Arg>, needsDevice: bool): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.deviceId = textOf(root, "deviceID");
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    const allocated: string = runtime === null ? "" : textOf(runtime, "deviceID");
    if (allocated != "") settings.deviceId = allocated;
    if (needsDevice && settings.deviceId == "")
      root.refuse(
        "deviceID",
        "the PCI address of a virtual function is required; a resource of the pod or its claim gives it, too",
      );
    settings.ipam = ipamType(root);
    const requested = RequestedMac.read(root, args);
    settings.mac = requested.mac;
    settings.readFunction(root);
    settings.fault = requested.fault;
    const fault = root.fault;
    if (fault !== null) settings.fault = fault;
    return settings;
  }

  get selector(): DeviceSelector {
    const selector = new DeviceSelector();
    selector.deviceId = this.deviceId;
    return selector;
  }

  private readFunction(root: Config): void {
    const vf = new VfSettings(this.deviceId, false);
    vf.mac = this.mac;
    readVlan(root, vf);
    const min = rateOf(root, "min_tx_rate");
    const max = rateOf(root, "max_tx_rate");
    // sriov-cni sets both: the absent one to 0.
    if (min !== null || max !== null) {
      vf.minRate = new Some<u32>(min === null ? 0 : min.value);
      vf.maxRate = new Some<u32>(max === null ? 0 : max.value);
      if (min !== null && max !== null && max.value != 0 && min.value > max.value)
        root.refuse("min_tx_rate", `${min.value} exceeds max_tx_rate ${max.value}`);
    }
    vf.spoofCheck = switchOf(root, "spoofchk");
    vf.trust = switchOf(root, "trust");
    const state = textOf(root, "link_state");
    if (state != "") {
      const known = linkStates.indexOf(state);
      if (known < 0) root.refuse("link_state", `${quote(state)} is not auto, enable or disable`);
      else vf.linkState = new Some<VfLinkState>(<VfLinkState>known);
    }
    const isSet =
      vf.mac !== null ||
      vf.vlan !== null ||
      vf.minRate !== null ||
      vf.spoofCheck !== null ||
      vf.trust !== null ||
      vf.linkState !== null;
    if (isSet) this.vf = vf;
  }
}

function readVlan(root: Config, vf: VfSettings): void {
  const vlan = numberOf(root, "vlan", maxVlan);
  const qos = numberOf(root, "vlanQoS", maxQos);
  const proto = textOf(root, "vlanProto").toLowerCase();
  if (proto != "" && proto != "802.1q" && proto != "802.1ad")
    root.refuse("vlanProto", `${quote(proto)} is neither 802.1q nor 802.1ad`);
  if (vlan === null) {
    if (qos !== null) root.refuse("vlanQoS", "needs a vlan");
    if (proto != "") root.refuse("vlanProto", "needs a vlan");
    return;
  }
  if (vlan.value == 0 && qos !== null && qos.value != 0) root.refuse("vlanQoS", "needs a vlan other than 0");
  if (vlan.value == 0 && proto == "802.1ad") root.refuse("vlanProto", "802.1ad needs a vlan other than 0");
  vf.vlan = new Some<u16>(<u16>vlan.value);
  vf.vlanQos = new Some<u8>(qos === null ? 0 : <u8>qos.value);
  vf.vlanServiceTag = proto == "802.1ad";
}

/** A number from 0 to `max`; null if absent. */
function numberOf(root: Config, key: string, max: i64): Some<i64> | null {
  const number = root.integer(key);
  if (number === null || (number.value >= 0 && number.value <= max)) return number;
  root.refuse(key, `${number.value} is not in the range 0-${max}`);
  return null;
}

/** Mbit/s. */
function rateOf(root: Config, key: string): Some<u32> | null {
  const rate = numberOf(root, key, <i64>u32.MAX_VALUE);
  return rate === null ? null : new Some<u32>(<u32>rate.value);
}

/** sriov-cni takes any other text for "off". */
function switchOf(root: Config, key: string): Some<bool> | null {
  const text = textOf(root, key);
  if (text == "") return null;
  if (text != "on" && text != "off") root.refuse(key, `${quote(text)} is neither on nor off`);
  return new Some<bool>(text == "on");
}

function textOf(config: Config, key: string): string {
  const text = config.string(key);
  return text === null ? "" : text;
}
