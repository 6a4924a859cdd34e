// Information of a device plugin or a CNI plugin about the device of an interface (Device Information Specification 1.1.0), read from a file or, without a
// file, derived from the result. The attachment's plugins read and write their file; they get its path as the capability CNIDeviceInfoFile.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { CniResult } from "../cni/result.ts";
import { sandboxInterfaces } from "./sandbox-interface.ts";

/** The object as its author wrote it, including unknown keys: the status contains it unchanged. */
export type DeviceInfo = Readonly<Record<string, unknown>>;

/** The version of the objects that Plexus writes. */
const ownVersion = "1.1.0";
/** Maximum length of a file in UTF-16 units; the status of all of a pod's networks has 256 KiB. */
export const maxDeviceInfoLength = 16_384;

type Check = readonly [key: string, values?: readonly string[]];

/** For each type the required and optional keys of its section, with their allowed values if these are few. */
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
    // The specification says inject-punt; the usual client library writes punt.
    optional: [["role", ["master", "slave"]], ["path"], ["mode", ["ethernet", "ip", "inject-punt", "punt"]]],
  },
};

/** Reads the text of a device information file. Fault DEVICE_INFO_INVALID names the key; `what` names the file. */
export function readDeviceInfo(text: string, what: string): Result<DeviceInfo> {
  const document = parseDocument(text, { what, kind: "DEVICE_INFO_INVALID", maxLength: maxDeviceInfoLength, maxDepth: 16 });
  if (!document.ok) return document;
  const info = document.value.parsed;
  const member = (key: string): unknown => (Object.hasOwn(info, key) ? info[key] : undefined);
  const type = member("type");
  if (typeof type !== "string" || !Object.hasOwn(types, type)) {
    return invalid(what, `type must be one of ${Object.keys(types).join(", ")}, but is ${shown(type)}`);
  }
  if (typeof member("version") !== "string" || member("version") === "") {
    return invalid(what, `version must be a non-empty string, but is ${shown(member("version"))}`);
  }
  const section = member(type);
  if (!isJsonObject(section)) return invalid(what, `${type} must be an object, but is ${shown(section)}`);
  const problem = sectionProblem(type, section);
  return problem === undefined ? ok(info) : invalid(what, problem);
}

/**
 * Device information from a result of CNI 1.1.0: the PCI address of the first sandbox interface, or its socket's path (without a
 * mode, because the result does not name server and client). Undefined if the result has neither.
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
  const member = (key: string): unknown => (Object.hasOwn(section, key) ? section[key] : undefined);
  const missing = required.find(([key]) => member(key) === undefined || member(key) === "");
  if (missing !== undefined) return `${type}.${missing[0]} is missing`;
  for (const [key, values] of [...required, ...optional]) {
    const value = member(key);
    if (value === undefined) continue;
    if (typeof value !== "string") return `${type}.${key} must be a string, but is ${shown(value)}`;
    if (values !== undefined && !values.includes(value)) {
      return `${type}.${key} must be one of ${values.join(", ")}, but is ${shown(value)}`;
    }
  }
  return undefined;
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : describeJson(value);
}

function invalid(what: string, why: string): Result<never> {
  return failed(fault("DEVICE_INFO_INVALID", `${what}: ${why}`));
}

/** The directory of all such files, which a reboot removes. */
export const deviceInfoDirectory = "/var/run/k8s.cni.cncf.io/devinfo";

/** The capability of a plugin that wants the path. */
export const deviceInfoCapability = "CNIDeviceInfoFile";

/** The files of one attachment. */
export interface DeviceInfoFiles {
  /** The file that the attachment's plugins read and write. */
  readonly path: string;
  /** The device plugin's file, from which `path` is copied at first; undefined if no device was allocated. */
  readonly allocated: string | undefined;
  /** The first content of `path` without such a file; absent for none. */
  readonly content?: string;
}

/** The device plugin's file for one device of one resource (`example.com/nic`). */
export function devicePluginFile(resourceName: string, deviceId: string): string {
  return `${deviceInfoDirectory}/dp/${withoutSlash(`${resourceName}-${deviceId}`)}-device.json`;
}

/** The file of one attachment. Its name is unique on a node, because a container ID contains no @. */
export function attachmentFile(containerId: string, ifname: string): string {
  return `${deviceInfoDirectory}/cni/${withoutSlash(`${containerId}@${ifname}`)}-device.json`;
}

/** Facts about an attachment's network and device. */
export interface DeviceInfoNeed {
  /** Capabilities that at least one of its plugins declares. */
  readonly capabilities: readonly string[];
  readonly containerId: string;
  readonly ifname: string;
  /** The definition's resource, and the pod's device of it. */
  readonly resourceName: string | undefined;
  readonly deviceId: string | undefined;
  /** Device information that is known without a device plugin. */
  readonly content?: string | undefined;
}

/** The attachment's files; undefined if no plugin declares the capability and no device was allocated. */
export function deviceInfoFiles(need: DeviceInfoNeed): DeviceInfoFiles | undefined {
  const { capabilities, containerId, ifname, resourceName, deviceId, content } = need;
  const allocated = resourceName === undefined || deviceId === undefined ? undefined : devicePluginFile(resourceName, deviceId);
  if (allocated === undefined && content === undefined && !capabilities.includes(deviceInfoCapability)) return undefined;
  return { path: attachmentFile(containerId, ifname), allocated, ...(content === undefined ? {} : { content }) };
}

/** Replaces "/" of a resource by "-", as the specification says, so that the path cannot leave the directory. */
function withoutSlash(name: string): string {
  return name.replaceAll("/", "-");
}
