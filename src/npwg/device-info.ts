// What a device plugin or a CNI plugin tells of the device behind an interface (Device Information Specification 1.1.0),
// read from a file's text or, where there is none, taken from the result.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { CniResult } from "../cni/result.ts";
import { sandboxInterfaces } from "./sandbox-interface.ts";

/** The object as its author wrote it, unknown keys included: it goes into the status as it is. */
export type DeviceInfo = Readonly<Record<string, unknown>>;

/** The version under which Plexus itself writes. */
const ownVersion = "1.1.0";
/** The longest file that is read, in UTF-16 units; the status of all of a pod's networks has 256 KiB. */
export const longestDeviceInfo = 16_384;

type Check = readonly [key: string, words?: readonly string[]];

/** For each type the keys of its section: those that must be there, and those that may; with their words where they are few. */
const types: Readonly<Record<string, { readonly required: readonly Check[]; readonly optional: readonly Check[] }>> = {
  pci: {
    required: [["pci-address"]],
    optional: [["vhost-net"], ["rdma-device"], ["pf-pci-address"], ["representor-device"]],
  },
  vdpa: {
    required: [],
    optional: [
      ["parent-device"],
      ["driver", ["vhost", "virtio"]],
      ["path"],
      ["pci-address"],
      ["pf-pci-address"],
      ["representor-device"],
    ],
  },
  "vhost-user": { required: [], optional: [["mode", ["client", "server"]], ["path"]] },
  memif: {
    required: [],
    // The specification's word is inject-punt; the client library that everybody uses writes punt.
    optional: [["role", ["master", "slave"]], ["path"], ["mode", ["ethernet", "ip", "inject-punt", "punt"]]],
  },
};

/** Reads the text of a device-information file. Fault DEVICE_INFO_INVALID names the key; `what` names the file. */
export function readDeviceInfo(text: string, what: string): Result<DeviceInfo> {
  const document = parseDocument(text, { what, kind: "DEVICE_INFO_INVALID", maxLength: longestDeviceInfo, maxDepth: 16 });
  if (!document.ok) return document;
  const info = document.value.parsed;
  const own = (key: string): unknown => (Object.hasOwn(info, key) ? info[key] : undefined);
  const type = own("type");
  if (typeof type !== "string" || !Object.hasOwn(types, type)) {
    return invalid(what, `type must be one of ${Object.keys(types).join(", ")}, but is ${told(type)}`);
  }
  if (typeof own("version") !== "string" || own("version") === "") {
    return invalid(what, `version must be a non-empty string, but is ${told(own("version"))}`);
  }
  const section = own(type);
  if (!isJsonObject(section)) return invalid(what, `${type} must be an object, but is ${told(section)}`);
  const problem = sectionProblem(type, section);
  return problem === undefined ? ok(info) : invalid(what, problem);
}

/**
 * What a result of CNI 1.1.0 says itself of the first sandbox interface's device: its PCI address, or a socket's path (of
 * which it doesn't say who connects to whom). Undefined where it says neither.
 */
export function deviceInfoOf(result: CniResult): DeviceInfo | undefined {
  const link = sandboxInterfaces(result)[0]?.interface;
  if (link?.pciID !== undefined && link.pciID !== "") {
    return { type: "pci", version: ownVersion, pci: { "pci-address": link.pciID } };
  }
  if (link?.socketPath === undefined || link.socketPath === "") return undefined;
  return { type: "vhost-user", version: ownVersion, "vhost-user": { path: link.socketPath } };
}

function sectionProblem(type: string, section: Readonly<Record<string, unknown>>): string | undefined {
  const { required = [], optional = [] } = types[type] ?? {};
  const own = (key: string): unknown => (Object.hasOwn(section, key) ? section[key] : undefined);
  const missing = required.find(([key]) => own(key) === undefined || own(key) === "");
  if (missing !== undefined) return `${type}.${missing[0]} is missing`;
  for (const [key, words] of [...required, ...optional]) {
    const value = own(key);
    if (value === undefined) continue;
    if (typeof value !== "string") return `${type}.${key} must be a string, but is ${told(value)}`;
    if (words !== undefined && !words.includes(value)) {
      return `${type}.${key} must be one of ${words.join(", ")}, but is ${told(value)}`;
    }
  }
  return undefined;
}

function told(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : describeJson(value);
}

function invalid(what: string, why: string): Result<never> {
  return failed(fault("DEVICE_INFO_INVALID", `${what}: ${why}`));
}
