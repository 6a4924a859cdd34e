// The record of a virtual function that an attachment has set: what its settings were. It is on the disk before the first setting.

import { type VfSettings, vfLinkStates } from "../../../system/netlink/virtual-function.ts";
import { isPciAddress } from "./sysfs.ts";

/** The attachment that has a device or a virtual function. */
export interface DeviceHolder {
  readonly containerId: string;
  /** The attachment's interface name. */
  readonly ifname: string;
}

/** The attachment and the PCI address, by which the record of a virtual function's settings is found. */
export interface FunctionKey extends DeviceHolder {
  readonly pciAddress: string;
}

/** The earlier settings of a virtual function. */
export interface FunctionRecord extends FunctionKey {
  readonly type: string;
  readonly network: string;
  /** The MAC of the function's link before the settings; absent where a driver of user space has the function. */
  readonly linkMac?: string | undefined;
  /** The settings that the attachment has changed, with their earlier values. */
  readonly before: VfSettings;
}

const texts = ["type", "network", "containerId", "ifname", "pciAddress"] as const;

/** The record in a file's text; undefined for any other text. */
export function readFunctionRecord(text: string): FunctionRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isFunctionRecord(value) ? value : undefined;
}

function isFunctionRecord(value: unknown): value is FunctionRecord {
  const mac = member(value, "linkMac");
  return (
    texts.every((name) => typeof member(value, name) === "string") &&
    isPciAddress(String(member(value, "pciAddress"))) &&
    (mac === undefined || typeof mac === "string") &&
    isSettings(member(value, "before"))
  );
}

function isSettings(value: unknown): boolean {
  const [mac, vlan, rate, state] = ["mac", "vlan", "rate", "linkState"].map((name) => member(value, name));
  return (
    typeof value === "object" &&
    value !== null &&
    (mac === undefined || typeof mac === "string") &&
    (vlan === undefined || (areNumbers(vlan, "id", "qos") && typeof member(vlan, "serviceTag") === "boolean")) &&
    (rate === undefined || areNumbers(rate, "min", "max")) &&
    ["spoofCheck", "trust"].every((name) => ["undefined", "boolean"].includes(typeof member(value, name))) &&
    (state === undefined || vfLinkStates.some((known) => known === state))
  );
}

function areNumbers(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => Number.isSafeInteger(member(value, name)));
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
