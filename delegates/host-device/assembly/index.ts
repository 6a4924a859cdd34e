// Moves a device of the node into the pod. README.md has its configuration.

import { apply, LinkName, Operation, Place, read, retainDevices, Taking } from "plexus/abi/links";
import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { invalidConfig } from "plexus/faults";
import { checkOfIpam, delOfIpam, gcOfIpam, statusOfIpam } from "plexus/ipam";
import { MainInterface } from "plexus/main-interface";
import { CheckedInterface } from "plexus/main-interface-check";
import { Driver, resultWithoutLink } from "plexus/user-space-driver";
import { NO_ADDRESS, NO_DEVICE } from "./codes";
import { Settings } from "./settings";

/** Moves the device in, and gives it IPAM's addresses. After a fault the device is back and the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, true);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const driver = Driver.of(settings.deviceId, NO_DEVICE);
  if (driver.fault !== null) return SuccessOrFault.err(driver.fault as Fault);
  if (driver.isOfUserSpace) return resultWithoutLink(request, settings.ipam, null, settings.dns, NO_ADDRESS);
  const made = new MainInterface(request);
  made.making.push(Operation.takeDevice(new Taking(settings.selector, made.name, false)));
  made.unmaking = Operation.giveBack(made.name);
  made.ipam = settings.ipam;
  made.dns = settings.dns;
  return made.add();
}

/**
 * Releases the addresses and moves the device back, also where the pod's namespace is gone. A failure of one does not stop the other. Of the
 * configuration only `ipam.type` is read.
 */
export function del(request: AttachmentRequest): Fault | null {
  const fault = delOfIpam(request.network);
  const back = apply([Operation.giveBack(request.attachment.ifname)]);
  return fault !== null || back.isOk ? fault : back.error;
}

/** Answers code 102 with the first difference from the result, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, true);
  let fault = settings.fault;
  if (fault === null) fault = checkOfIpam(settings.ipam);
  if (fault !== null) return fault;
  if (request.prevResult === null) return invalidConfig("prevResult", "Required prevResult missing");
  if (settings.deviceId != "") {
    // The pod has the link of a device with one. Only a device without link needs a look at its driver.
    const links = read([new LinkName(Place.Pod, request.attachment.ifname)]);
    if (!links.isOk) return links.error;
    const driver: Driver | null = links.value.length > 0 ? null : Driver.of(settings.deviceId, NO_DEVICE);
    if (driver !== null && (driver.fault !== null || driver.isOfUserSpace)) return driver.fault;
  }
  const found = CheckedInterface.find(request, null);
  return found.fault === null ? found.compare() : found.fault;
}

/** Collects IPAM's garbage, and moves devices of stale attachments back. */
export function gc(request: GcRequest): Fault | null {
  const fault = gcOfIpam(request);
  const back = retainDevices(request.valid);
  return fault !== null || back.isOk ? fault : back.error;
}

/** The configuration is valid, and IPAM is ready. The device is not looked for: a pod may have it. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, false);
  return settings.fault === null ? statusOfIpam(settings.ipam) : settings.fault;
}
