// The configuration, read like the reference host-device does.

import { DeviceSelector } from "plexus/abi/links";
import { Dns, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded, foldedMember } from "plexus/folded";
import { ipamType } from "plexus/ipam";
import { quote } from "plexus/json";
import { readMac } from "plexus/mac";
import { readDns } from "plexus/network-dns";

const topKeys: StaticArray<string> = ["device", "hwaddr", "kernelpath", "pciBusID", "ipam", "dns", "runtimeConfig"];
const runtimeKeys: StaticArray<string> = ["deviceID"];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  device: string = "";
  mac: string = "";
  kernelPath: string = "";
  /** `runtimeConfig.deviceID`, or else `pciBusID`. */
  deviceId: string = "";
  ipam: string = "";
  dns: Dns | null = null;

  /** `needsDevice`: false for STATUS, whose configuration has no `runtimeConfig`. */
  static read(network: Network, needsDevice: bool): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.device = textOf(root, "device");
    settings.kernelPath = textOf(root, "kernelpath");
    if (settings.kernelPath != "" && !settings.kernelPath.startsWith("/sys/devices/"))
      root.refuse("kernelpath", `${quote(settings.kernelPath)} must be absolute and begin with /sys/devices/`);
    settings.readMac(root);
    settings.deviceId = textOf(root, "pciBusID");
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    const allocated: string = runtime === null ? "" : textOf(runtime, "deviceID");
    if (allocated != "") settings.deviceId = allocated;
    if (needsDevice && settings.device == "" && settings.mac == "" && settings.kernelPath == "" && settings.deviceId == "")
      root.refuse("device", `specify either "device", "hwaddr", "kernelpath" or "pciBusID"`);
    settings.ipam = ipamType(root);
    if (settings.ipam != "") settings.dns = readDns(root);
    settings.fault = root.fault;
    return settings;
  }

  /** Selects by the first key that is set, as the reference does. */
  get selector(): DeviceSelector {
    const selector = new DeviceSelector();
    if (this.device != "") selector.name = this.device;
    else if (this.mac != "") selector.mac = this.mac;
    else if (this.kernelPath != "") selector.kernelPath = this.kernelPath;
    else selector.deviceId = this.deviceId;
    return selector;
  }

  private readMac(root: Config): void {
    const text = textOf(root, "hwaddr");
    if (text == "") return;
    const mac = readMac(text);
    if (mac === null) root.refuse("hwaddr", `${quote(text)} is not a MAC address`);
    else this.mac = mac;
  }
}

function textOf(config: Config, key: string): string {
  const text = config.string(key);
  return text === null ? "" : text;
}
