// The status of a claim's devices (resource.k8s.io/v1, ResourceClaim.status.devices; KEP-4817): the interface of each attachment, or why there is none.

import { isJsonObject } from "../../../src/json/document.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import { addressesOf, sandboxInterfaces } from "../../../src/npwg/sandbox-interface.ts";
import { driverName } from "./names.ts";

/** A device of a claim. */
export interface ReportedDevice {
  readonly pool: string;
  readonly device: string;
  readonly shareId: string;
}

/** The outcome of a device's attachment. */
export type AttachmentOutcome =
  | { readonly ifname: string; readonly result: CniResult }
  /** `failure`: the failing plugin's own error. */
  | { readonly failure: string };

/** Kubernetes' own maxima: addresses of a device, and a condition's message. */
const maxIps = 16;
const maxMessage = 4096;

/** The entries of the devices. `now`: RFC 3339. */
export function deviceStatuses(
  devices: readonly { readonly device: ReportedDevice; readonly outcome: AttachmentOutcome }[],
  now: string,
): readonly object[] {
  return devices.map(({ device: { pool, device, shareId }, outcome }) => ({
    driver: driverName,
    pool,
    device,
    ...(shareId === "" ? {} : { shareID: shareId }),
    conditions: [conditionOf(outcome, now)],
    ...("result" in outcome ? { networkData: networkDataOf(outcome.ifname, outcome.result) } : {}),
  }));
}

/** The list of a claim with the new entries in place of those of the same devices. Entries of other drivers stay as they are. */
export function withDevices(current: unknown, entries: readonly object[]): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(current) ? current : [];
  const replaced = new Set(entries.map(identityOf));
  return [...list.filter((each) => !replaced.has(identityOf(each))), ...entries];
}

function identityOf(entry: unknown): string {
  if (!isJsonObject(entry)) return "";
  return JSON.stringify([entry["driver"], entry["pool"], entry["device"], entry["shareID"] ?? ""]);
}

function conditionOf(outcome: AttachmentOutcome, now: string): object {
  const base = { type: "Ready", lastTransitionTime: now };
  if ("result" in outcome) return { ...base, status: "True", reason: "Attached", message: `attached as ${outcome.ifname}` };
  return { ...base, status: "False", reason: "AttachFailed", message: outcome.failure.slice(0, maxMessage) };
}

/** The pod's interface of the attachment: the link of its name, or the first in the pod. */
function networkDataOf(ifname: string, result: CniResult): object {
  const links = sandboxInterfaces(result);
  const link = links.find((each) => each.interface.name === ifname) ?? links[0];
  const ips = link === undefined ? result.ips : addressesOf(result, link.index);
  const mac = link?.interface.mac ?? "";
  const addresses = ips.map(({ address }) => address).slice(0, maxIps);
  return {
    interfaceName: link?.interface.name ?? ifname,
    ...(addresses.length === 0 ? {} : { ips: addresses }),
    ...(mac === "" ? {} : { hardwareAddress: mac }),
  };
}
