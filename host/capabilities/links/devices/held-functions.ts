// The virtual functions that an attachment has set, by their records.

import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import type { LinkState } from "../../../system/netlink/link-state.ts";
import type { DeviceScope } from "../link-scope.ts";
import type { Namespaces } from "../namespaces.ts";
import type { DeviceHolder, FunctionRecord } from "./function-record.ts";
import { restoreFunction } from "./restore-function.ts";

/** An attachment that may have devices. */
export interface HeldBy extends DeviceHolder {
  readonly devices: DeviceScope;
}

/** Whether both are of one attachment. */
export function isOf(one: DeviceHolder, other: DeviceHolder): boolean {
  return one.containerId === other.containerId && one.ifname === other.ifname;
}
/** The settings of the virtual function whose link this is, as this attachment has made them. */
export function settingsFor(
  { containerId, ifname, devices }: HeldBy,
  { parentDevice }: LinkState,
): Result<FunctionRecord | undefined> {
  if (parentDevice?.bus !== "pci") return ok(undefined);
  return devices.store.functions.load({ containerId, ifname, pciAddress: parentDevice.name });
}

/** The functions of the attachment that are not the link of another name in the pod. */
export function functionsGivenBack(where: HeldBy, podName: string): Result<readonly FunctionRecord[]> {
  const { store } = where.devices;
  const functions = store.functions.list();
  if (!functions.ok) return functions;
  const own = functions.value.records.filter((record) => isOf(record, where));
  const unreadable = functions.value.damaged.find((record) => isOf(record, where));
  if (unreadable !== undefined) return failed(unreadable.fault);
  if (own.length === 0) return ok([]);
  const listed = store.list();
  if (!listed.ok) return listed;
  const others = listed.value.records.filter((record) => isOf(record, where) && record.podName !== podName);
  return ok(own.filter(({ pciAddress }) => !others.some(({ identity }) => identity.parentDevice?.name === pciAddress)));
}

/** Restores settings. Answers why the first could not be restored. */
export async function restoreAll(
  namespaces: Namespaces,
  { store, sysfs }: DeviceScope,
  functions: readonly FunctionRecord[],
): Promise<string | undefined> {
  for (const record of functions) {
    const reason = await restoreFunction(namespaces, sysfs, store.functions, record);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
