// The settings of virtual functions on the kernel's side: they are read, made one by one, and restored to those of a record.

import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import { EAGAIN, EBUSY, EOPNOTSUPP, EPROTONOSUPPORT } from "../../../system/errno.ts";
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
import type { FunctionKey, RecordStore } from "./device-store.ts";
import { linksAt } from "./find-device.ts";
import type { Sysfs } from "./sysfs.ts";

/** A driver refuses a setting while the function is being reset, which takes some 100 ms. */
const maxTries = 20;
const pauseMs = 100;

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

/** Makes settings one by one. Answers why one could not be made. `ignoredErrnos`: refusals that count as success. */
export async function setFunction(
  namespaces: Namespaces,
  { physical, number }: FunctionPlace,
  settings: VfSettings,
  ignoredErrnos: readonly number[] = [],
): Promise<string | undefined> {
  for (const message of vfMessages(physical.index, number, settings)) {
    const reason = await setOne(namespaces, physical.name, message, ignoredErrnos);
    if (reason !== undefined) return reason;
  }
  return undefined;
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
  const { pciAddress, before } = record;
  const device = { bus: "pci", name: pciAddress };
  // An administrator who removes the functions, and a restart of the machine, remove their settings, too.
  if (sysfs.virtualFunctionOf(device) !== undefined) {
    const links = await linksAt(namespaces, "host");
    if (!links.ok) return links.fault.msg;
    const isOnNode = links.value.some(({ parentDevice }) => parentDevice?.bus === "pci" && parentDevice.name === pciAddress);
    if (!isOnNode && sysfs.hasLink(device))
      return `the link of virtual function ${pciAddress} is in another network namespace, so that its settings stay; remove that namespace, then repeat the call`;
    const place = functionPlace(sysfs, links.value, pciAddress, "restoring its settings");
    if (!place.ok) return place.fault.msg;
    // A driver that does not support a setting did not change it.
    const reason = await setFunction(namespaces, place.value, before, [EOPNOTSUPP, EPROTONOSUPPORT]);
    if (reason !== undefined) return reason;
  }
  const removed = store.remove(record);
  return removed.ok ? undefined : removed.fault.msg;
}
