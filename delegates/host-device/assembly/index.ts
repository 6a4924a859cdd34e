// Moves a device of the node into the pod. README.md has its configuration.

import { apply, LinkName, Operation, Place, read, retainDevices, Taking } from "plexus/abi/links";
import * as delegation from "plexus/abi/delegation";
import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, NetworkInterface, StatusRequest, Success } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { checkOfIpam, delOfIpam, gcOfIpam, statusOfIpam } from "plexus/ipam";
import { MainInterface } from "plexus/main-interface";
import { CheckedInterface } from "plexus/main-interface-check";
import { Some } from "plexus/some";
import { NO_ADDRESS } from "./codes";
import { Driver } from "./dpdk";
import { Settings } from "./settings";

/** Moves the device in, and gives it IPAM's addresses. After a fault the device is back and the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, true);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const driver = Driver.of(settings.deviceId);
  if (driver.fault !== null) return SuccessOrFault.err(driver.fault as Fault);
  if (driver.isOfUserSpace) return withoutLink(request, settings);
  const made = new MainInterface(request);
  made.making.push(Operation.takeDevice(new Taking(settings.selector, made.name, false)));
  made.ipam = settings.ipam;
  made.dns = settings.dns;
  return made.add();
}

/** The result of a device that a driver of user space has: the addresses are the application's to use. */
function withoutLink(request: AttachmentRequest, settings: Settings): SuccessOrFault {
  const result = new Success();
  const device = new NetworkInterface(request.attachment.ifname);
  device.sandbox = request.attachment.netns;
  result.interfaces.push(device);
  if (settings.ipam == "") return SuccessOrFault.ok(result);
  const answer = delegation.add(settings.ipam, null);
  if (!answer.isOk) return answer;
  const ips = answer.value.ips;
  if (ips.length == 0) {
    delegation.del(settings.ipam, null);
    return SuccessOrFault.err(ownFault(NO_ADDRESS, `IPAM plugin ${settings.ipam} returned missing IP config`));
  }
  for (let i = 0; i < ips.length; i++) {
    const ip = new IpConfig(ips[i].address);
    ip.gateway = ips[i].gateway;
    ip.interface_ = new Some<i32>(0);
    result.ips.push(ip);
  }
  result.routes = answer.value.routes;
  result.dns = settings.dns;
  return SuccessOrFault.ok(result);
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
    const driver: Driver | null = links.value.length > 0 ? null : Driver.of(settings.deviceId);
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
