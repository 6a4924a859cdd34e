// The return of devices and the restored settings of virtual functions in a GC.

import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import type { AttachmentId } from "../../../../src/cni/attachment.ts";
import { type LinkScope, misused } from "../link-scope.ts";
import { Namespaces, type NamespaceShim } from "../namespaces.ts";
import type { FunctionRecord } from "./function-record.ts";
import { isOf, restoreAll } from "./held-functions.ts";
import { returnDevice } from "./return-device.ts";

type Owner = Pick<FunctionRecord, "type" | "network" | "containerId" | "ifname">;

/** GC: returns the devices of attachments of this delegate and network that are not valid. Answers their number. */
export async function retainDevices(
  scope: LinkScope,
  shim: NamespaceShim,
  valid: readonly AttachmentId[],
): Promise<Result<number>> {
  if (scope.verb !== "GC") return failed(misused(`retain-devices is allowed in GC only, and this call is ${scope.verb}`));
  const { devices } = scope;
  if (devices === undefined) return ok(0);
  const listed = devices.store.list();
  if (!listed.ok) return listed;
  const { records, damaged } = listed.value;
  const kept = new Set(valid.map(({ containerId, ifname }) => `${containerId}:${ifname}`));
  const functions = devices.store.functions.list();
  if (!functions.ok) return functions;
  const isStale = ({ type, network, containerId, ifname }: Owner): boolean =>
    type === scope.type && network === devices.network && !kept.has(`${containerId}:${ifname}`);
  const staleFunctions = functions.value.records.filter(isStale);
  let count = 0;
  const [unreadable] = [...damaged, ...functions.value.damaged];
  // The devices of other records come back all the same.
  let failure: Result<never> | undefined = unreadable === undefined ? undefined : failed(unreadable.fault);
  for (const record of records) {
    if (!isStale(record)) continue;
    const { containerId, netns, identity } = record;
    const namespaces = new Namespaces(shim, netns);
    const own = staleFunctions.filter((each) => isOf(each, record) && each.pciAddress === identity.parentDevice?.name);
    const returned = await returnDevice(namespaces, record, () => restoreAll(namespaces, devices, own));
    if (typeof returned === "object") {
      failure ??= failed(
        fault("NETLINK_FAILED", `links: the device ${record.name} of container ${containerId}: ${returned.reason}`),
      );
      continue;
    }
    const removed = devices.store.remove(record);
    if (!removed.ok) return removed;
    count++;
  }
  // Functions without a link, which a driver of user space has. Those of the devices above have no record any more.
  for (const record of staleFunctions) {
    if (records.some(({ identity, ...device }) => isOf(record, device) && identity.parentDevice?.name === record.pciAddress))
      continue;
    const reason = await restoreAll(new Namespaces(shim, ""), devices, [record]);
    if (reason === undefined) count++;
    else
      failure ??= failed(
        fault("NETLINK_FAILED", `links: virtual function ${record.pciAddress} of container ${record.containerId}: ${reason}`),
      );
  }
  return failure ?? ok(count);
}
