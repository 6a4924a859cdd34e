// Sets a virtual function (SR-IOV) and moves it into the pod. README.md has its configuration.

import { apply, Change, LinkName, Operation, Place, Taking } from "plexus/abi/links";
import * as delegation from "plexus/abi/delegation";
import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { statusOfIpam } from "plexus/ipam";
import { MainInterface } from "plexus/main-interface";
import { checkDevice, delDevice, gcOfDevices } from "plexus/moved-device";
import { Driver, resultWithoutLink } from "plexus/user-space-driver";
import { NO_ADDRESS, NO_DEVICE } from "./codes";
import { Settings } from "./settings";

/** Sets the function, moves it in, and gives it IPAM's addresses. After a fault the function is as it was, and the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args, true);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const driver = Driver.of(settings.deviceId, NO_DEVICE);
  if (driver.fault !== null) return SuccessOrFault.err(driver.fault as Fault);
  if (driver.isOfUserSpace) return withoutLink(request, settings);
  const made = new MainInterface(request);
  const vf = settings.vf;
  if (vf !== null) made.making.push(Operation.setVf(vf));
  made.making.push(Operation.takeDevice(new Taking(settings.selector, made.name, false)));
  const mac = settings.mac;
  if (mac !== null) {
    const change = new Change(new LinkName(Place.Pod, made.name));
    change.mac = mac;
    made.making.push(Operation.changeLink(change));
  }
  made.unmaking = Operation.giveBack(made.name);
  made.ipam = settings.ipam;
  made.notifiesIpv4 = true;
  made.notifiesIpv6 = true;
  made.reportsMtu = true;
  made.keepsIpamDns = true;
  return made.add();
}

/** A driver of user space has the function, so that only the physical function's side is set. */
function withoutLink(request: AttachmentRequest, settings: Settings): SuccessOrFault {
  const result = resultWithoutLink(request, settings.ipam, settings.mac, NO_ADDRESS);
  const vf = settings.vf;
  if (!result.isOk || vf === null) return result;
  const applied = apply([Operation.setVf(vf)]);
  if (applied.isOk) return result;
  // The first fault is reported. If this DEL fails, the runtime's DEL releases the address.
  if (settings.ipam != "") delegation.del(settings.ipam, null);
  return SuccessOrFault.err(applied.error);
}

/** Releases the addresses, and moves the function back with its settings. */
export function del(request: AttachmentRequest): Fault | null {
  return delDevice(request);
}

/** Answers code 102 with the first difference from the result, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args, true);
  return settings.fault === null ? checkDevice(request, settings.ipam, settings.deviceId, NO_DEVICE) : settings.fault;
}

/** Collects IPAM's garbage, and moves functions of stale attachments back. */
export function gc(request: GcRequest): Fault | null {
  return gcOfDevices(request);
}

/** The configuration is valid, and IPAM is ready. The function is not looked for: a pod may have it. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, [], false);
  return settings.fault === null ? statusOfIpam(settings.ipam) : settings.fault;
}
