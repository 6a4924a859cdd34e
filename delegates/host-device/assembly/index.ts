// Moves a device of the node into the pod. README.md has its configuration.

import { Operation, Taking } from "plexus/abi/links";
import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { statusOfIpam } from "plexus/ipam";
import { MainInterface } from "plexus/main-interface";
import { checkDevice, delDevice, gcOfDevices } from "plexus/moved-device";
import { Driver, resultWithoutLink } from "plexus/user-space-driver";
import { NO_ADDRESS, NO_DEVICE } from "./codes";
import { Settings } from "./settings";

/** Moves the device in, and gives it IPAM's addresses. After a fault the device is back and the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, true);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const driver = Driver.of(settings.deviceId, NO_DEVICE);
  if (driver.fault !== null) return SuccessOrFault.err(driver.fault as Fault);
  if (driver.isOfUserSpace) {
    const result = resultWithoutLink(request, settings.ipam, null, NO_ADDRESS);
    if (result.isOk && settings.ipam != "") result.value.dns = settings.dns;
    return result;
  }
  const made = new MainInterface(request);
  made.making.push(Operation.takeDevice(new Taking(settings.selector, made.name, false)));
  made.unmaking = Operation.giveBack(made.name);
  made.ipam = settings.ipam;
  made.dns = settings.dns;
  return made.add();
}

/** Releases the addresses, and moves the device back. */
export function del(request: AttachmentRequest): Fault | null {
  return delDevice(request);
}

/** Answers code 102 with the first difference from the result, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, true);
  return settings.fault === null ? checkDevice(request, settings.ipam, settings.deviceId, NO_DEVICE) : settings.fault;
}

/** Collects IPAM's garbage, and moves devices of stale attachments back. */
export function gc(request: GcRequest): Fault | null {
  return gcOfDevices(request);
}

/** The configuration is valid, and IPAM is ready. The device is not looked for: a pod may have it. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, false);
  return settings.fault === null ? statusOfIpam(settings.ipam) : settings.fault;
}
