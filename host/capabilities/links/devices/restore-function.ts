// The settings of virtual functions on the kernel's side: they are read, made one by one, and restored to those of a record.

import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import { EAGAIN, EBUSY, EINVAL, EOPNOTSUPP, EPROTONOSUPPORT } from "../../../system/errno.ts";
import { linkChange } from "../../../system/netlink/link-change.ts";
import type { LinkState } from "../../../system/netlink/link-state.ts";
import {
  type VfMessage,
  vfMessages,
  type VfSettings,
  vfSettingsIn,
  virtualFunctionsRequest,
} from "../../../system/netlink/virtual-function.ts";
import { type Namespaces, refusalText } from "../namespaces.ts";
import type { FunctionRecord } from "./function-record.ts";
import type { RecordStore } from "./device-store.ts";
import type { FunctionKey } from "./function-record.ts";
import { linksAt } from "./find-device.ts";
import type { Sysfs } from "./sysfs.ts";

/** A driver refuses a setting while the function is being reset, which takes some 100 ms. */
const maxTries = 20;
const pauseMs = 100;
/** Takes the MAC away that was set at the physical function. */
const noMac = "00:00:00:00:00:00";

/** The link of a physical function, and the number of a virtual function there. */
export interface FunctionPlace {
  readonly physical: LinkState;
  readonly number: number;
}

/** Where a virtual function is set. Fault NETLINK_FAILED: the device is no virtual function, or its physical function has no link on the node. */
export function functionPlace(
  sysfs: Sysfs,
  links: readonly LinkState[],
  pciAddress: string,
  label: string,
): Result<FunctionPlace> {
  const found = sysfs.virtualFunctionOf({ bus: "pci", name: pciAddress });
  if (found === undefined)
    return failed(fault("NETLINK_FAILED", `links: ${label}: device ${pciAddress} is not a virtual function (SR-IOV)`));
  const { physical, number } = found;
  const link = links.find(({ parentDevice }) => parentDevice?.bus === physical.bus && parentDevice.name === physical.name);
  if (link !== undefined) return ok({ physical: link, number });
  const why = `its physical function ${physical.name} has no link on the node`;
  return failed(fault("NETLINK_FAILED", `links: ${label}: virtual function ${pciAddress} cannot be set: ${why}`));
}

/** The present settings. Fault NETLINK_FAILED. */
export async function readFunction(
  namespaces: Namespaces,
  { physical, number }: FunctionPlace,
  label: string,
): Promise<Result<VfSettings>> {
  const { answers, errno } = await namespaces.exchange("host", [virtualFunctionsRequest(physical.index)]);
  const [answer] = answers;
  if (answer === undefined) return failed(namespaces.unreachable(errno));
  const action = `links: ${label}: reading virtual function ${number} of ${physical.name}`;
  if (answer.errno !== 0) return failed(fault("NETLINK_FAILED", `${action}: ${refusalText(answer)}`));
  const [settings] = answer.messages.flatMap((message) => vfSettingsIn(message, number) ?? []);
  return settings === undefined
    ? failed(fault("NETLINK_FAILED", `${action}: the driver of the physical function tells of no such function`))
    : ok(settings);
}

/** The link of a virtual function, and the MAC that the link shall have. */
export interface FunctionLink {
  readonly link: LinkState;
  readonly mac: string;
}

/** Makes settings one by one, the MAC first. Answers why one could not be made. `ignoredErrnos`: refusals that count as success. */
export async function setFunction(
  namespaces: Namespaces,
  place: FunctionPlace,
  { mac, ...settings }: VfSettings,
  own: FunctionLink | undefined,
  ignoredErrnos: readonly number[] = [],
): Promise<string | undefined> {
  const { physical, number } = place;
  if (mac !== undefined) {
    if (own !== undefined && own.link.mac !== own.mac) await setLinkMac(namespaces, place, own);
    // A driver that cannot take a MAC away keeps the last one.
    const refusals = mac === noMac ? [...ignoredErrnos, EINVAL] : ignoredErrnos;
    const [message] = vfMessages(physical.index, number, { mac });
    const reason = message && (await setOne(namespaces, physical.name, message, refusals));
    if (reason !== undefined) return reason;
  }
  for (const message of vfMessages(physical.index, number, settings)) {
    const reason = await setOne(namespaces, physical.name, message, ignoredErrnos);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/**
 * Sets the MAC of the function's own link while none is set at the physical function: some drivers refuse the change afterwards, also to the same MAC
 * (igb). A driver that refuses it here takes the MAC of the physical function by itself.
 */
async function setLinkMac(
  namespaces: Namespaces,
  { physical, number }: FunctionPlace,
  { link, mac }: FunctionLink,
): Promise<void> {
  const cleared = vfMessages(physical.index, number, { mac: noMac }).map(({ request }) => request);
  await namespaces.exchange("host", [...cleared, linkChange(link.index, { mac })]);
}

async function setOne(
  namespaces: Namespaces,
  physicalName: string,
  { request, action }: VfMessage,
  ignoredErrnos: readonly number[],
): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    const { answers, errno } = await namespaces.exchange("host", [request]);
    const [answer] = answers;
    if (answer === undefined) return namespaces.unreachable(errno).msg;
    if (answer.errno === 0 || ignoredErrnos.includes(answer.errno)) return undefined;
    const isBusy = answer.errno === EBUSY || answer.errno === EAGAIN;
    if (!isBusy || tries === maxTries) return `${action} of ${physicalName}: ${refusalText(answer)}`;
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/**
 * Restores the settings of a record, and removes the record. Answers why it could not. A function whose link is still in another namespace keeps its
 * settings: a pod that hides the link would otherwise get rid of its VLAN.
 */
export async function restoreFunction(
  namespaces: Namespaces,
  sysfs: Sysfs,
  store: RecordStore<FunctionKey, FunctionRecord>,
  record: FunctionRecord,
): Promise<string | undefined> {
  const { pciAddress, before, linkMac } = record;
  const device = { bus: "pci", name: pciAddress };
  // An administrator who removes the functions, and a restart of the machine, remove their settings, too.
  if (sysfs.virtualFunctionOf(device) !== undefined) {
    const links = await linksAt(namespaces, "host");
    if (!links.ok) return links.fault.msg;
    const link = links.value.find(({ parentDevice }) => parentDevice?.bus === "pci" && parentDevice.name === pciAddress);
    if (link === undefined && sysfs.hasLink(device))
      return `the link of virtual function ${pciAddress} is in another network namespace, so that its settings stay; remove that namespace, then repeat the call`;
    const place = functionPlace(sysfs, links.value, pciAddress, "restoring its settings");
    if (!place.ok) return place.fault.msg;
    // A driver that does not support a setting did not change it.
    const own = link === undefined || linkMac === undefined ? undefined : { link, mac: linkMac };
    const reason = await setFunction(namespaces, place.value, before, own, [EOPNOTSUPP, EPROTONOSUPPORT]);
    if (reason !== undefined) return reason;
  }
  const removed = store.remove(record);
  return removed.ok ? undefined : removed.fault.msg;
}
