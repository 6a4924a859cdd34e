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

/** An attachment as its ADD left it. */
export interface AttachedDevice {
  readonly ifname: string;
  readonly result: CniResult;
  /** Why the interface is not as its ADD left it; absent if it is. */
  readonly lost?: string;
  /** The daemon has just started, and nothing has looked at the interface yet. */
  readonly isUnseen?: true;
}

/** The outcome of a device's attachment. */
export type AttachmentOutcome =
  | AttachedDevice
  /** `failure`: the failing plugin's own error. */
  | { readonly failure: string }
  /** The pod has the interface no longer. */
  | { readonly isDetached: true };

/** Kubernetes' own maxima: addresses of a device, and a condition's message. */
const maxIps = 16;
const maxMessage = 4096;

/** The list of a claim with the devices' new entries. Entries of other drivers stay as they are. `now`: RFC 3339. */
export function reportedDevices(
  current: unknown,
  devices: readonly { readonly device: ReportedDevice; readonly outcome: AttachmentOutcome }[],
  now: string,
): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(current) ? current : [];
  const replaced = new Set<string>();
  const entries = devices.flatMap(({ device: { pool, device, shareId }, outcome }) => {
    const identity = { driver: driverName, pool, device, ...(shareId === "" ? {} : { shareID: shareId }) };
    const text = identityOf(identity);
    replaced.add(text);
    if ("isDetached" in outcome) return [];
    const before = list.find((each) => identityOf(each) === text);
    const networkData = "result" in outcome ? networkDataOf(outcome.ifname, outcome.result) : undefined;
    // The condition of the daemon before this one holds until the first look.
    const isKept = "isUnseen" in outcome && networkData !== undefined && isLost(before, networkData.interfaceName);
    const condition = isKept ? readyIn(before) : sinceBefore(conditionOf(outcome, now), before);
    return [{ ...identity, conditions: [condition], ...(networkData === undefined ? {} : { networkData }) }];
  });
  return [...list.filter((each) => !replaced.has(identityOf(each))), ...entries];
}

/** Whether a claim's list has these entries already, whatever the order of keys and entries. */
export function areSameDevices(current: unknown, next: readonly unknown[]): boolean {
  const list: readonly unknown[] = Array.isArray(current) ? current : [];
  return sortedTexts(list) === sortedTexts(next);
}

function sortedTexts(entries: readonly unknown[]): string {
  return JSON.stringify(entries.map(sortedText).toSorted());
}

function sortedText(entry: unknown): string {
  return JSON.stringify(entry, (_, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}

function identityOf(entry: unknown): string {
  if (!isJsonObject(entry)) return "";
  return JSON.stringify([entry["driver"], entry["pool"], entry["device"], entry["shareID"] ?? ""]);
}

interface Condition {
  readonly type: "Ready";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

function conditionOf(outcome: Exclude<AttachmentOutcome, { isDetached: true }>, now: string): Condition {
  const base = { type: "Ready", lastTransitionTime: now } as const;
  if ("result" in outcome && outcome.lost === undefined)
    return { ...base, status: "True", reason: "Attached", message: `attached as ${outcome.ifname}` };
  const [reason, why] = "failure" in outcome ? ["AttachFailed", outcome.failure] : ["InterfaceLost", outcome.lost ?? ""];
  return { ...base, status: "False", reason, message: why.slice(0, maxMessage) };
}

/** The condition's time is that of its last change of status (metav1.Condition). */
function sinceBefore(condition: Condition, before: unknown): Condition {
  const earlier = readyIn(before);
  if (earlier?.["status"] !== condition.status) return condition;
  const { lastTransitionTime } = earlier;
  return typeof lastTransitionTime === "string" ? { ...condition, lastTransitionTime } : condition;
}

/** Whether a device's entry says that this interface is lost. */
function isLost(entry: unknown, interfaceName: string): boolean {
  const networkData = isJsonObject(entry) ? entry["networkData"] : undefined;
  const isOfInterface = isJsonObject(networkData) && networkData["interfaceName"] === interfaceName;
  return isOfInterface && readyIn(entry)?.["reason"] === "InterfaceLost";
}

/** The condition Ready of a device's entry. */
function readyIn(entry: unknown): Readonly<Record<string, unknown>> | undefined {
  const list: unknown = isJsonObject(entry) ? entry["conditions"] : undefined;
  const conditions = Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : [];
  return conditions.find(({ type }) => type === "Ready");
}

/** The pod's interface of the attachment: the link of its name, or the first in the pod. */
function networkDataOf(ifname: string, result: CniResult): { readonly interfaceName: string } {
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
