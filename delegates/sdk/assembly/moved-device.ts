// DEL, CHECK and GC of a main plugin whose interface is a device of the node, which moves into the pod and back.

import { apply, LinkName, Operation, Place, read, retainDevices } from "./abi/links";
import { AttachmentRequest, GcRequest } from "./abi/plugin";
import { Fault } from "./abi/types";
import { invalidConfig } from "./faults";
import { checkOfIpam, delOfIpam, gcOfIpam } from "./ipam";
import { CheckedInterface } from "./main-interface-check";
import { Driver } from "./user-space-driver";

/**
 * Releases the addresses and moves the device back, also where the pod's namespace is gone. A failure of one does not stop the other. Of the
 * configuration only `ipam.type` is read.
 */
export function delDevice(request: AttachmentRequest): Fault | null {
  const fault = delOfIpam(request.network);
  const back = apply([Operation.giveBack(request.attachment.ifname)]);
  return fault !== null || back.isOk ? fault : back.error;
}

/**
 * Answers code 102 with the first difference from the result, or a fault of IPAM. A device of a driver of user space has no link to compare. `deviceId`:
 * "" for a device that always has a link. `noDevice`: the code of the fault where the node has no such device.
 */
export function checkDevice(request: AttachmentRequest, ipam: string, deviceId: string, noDevice: u32): Fault | null {
  const fault = checkOfIpam(ipam);
  if (fault !== null) return fault;
  if (request.prevResult === null) return invalidConfig("prevResult", "Required prevResult missing");
  if (deviceId != "") {
    const links = read([new LinkName(Place.Pod, request.attachment.ifname)]);
    if (!links.isOk) return links.error;
    // Only a device without a link in the pod needs a look at its driver.
    const driver: Driver | null = links.value.length > 0 ? null : Driver.of(deviceId, noDevice);
    if (driver !== null && (driver.fault !== null || driver.isOfUserSpace)) return driver.fault;
  }
  const found = CheckedInterface.find(request, null);
  return found.fault === null ? found.compare() : found.fault;
}

/** Collects IPAM's garbage, moves devices of stale attachments back, and restores their settings. */
export function gcOfDevices(request: GcRequest): Fault | null {
  const fault = gcOfIpam(request);
  const back = retainDevices(request.valid);
  return fault !== null || back.isOk ? fault : back.error;
}
