// Devices of drivers of user space (DPDK): they have no link, so that nothing moves and nothing is configured.

import * as delegation from "./abi/delegation";
import { DeviceSelector, findDevice } from "./abi/links";
import { AttachmentRequest, SuccessOrFault } from "./abi/plugin";
import { Fault, IpConfig, NetworkInterface, Success } from "./abi/types";
import { ownFault } from "./faults";
import { Some } from "./some";

const drivers: StaticArray<string> = ["vfio-pci", "uio_pci_generic", "igb_uio"];

/** Whether a driver of user space has the device of an ID. With a fault, the other field must not be used. */
@final
export class Driver {
  private constructor(
    readonly fault: Fault | null,
    readonly isOfUserSpace: bool,
  ) {}

  /** "": no ID is configured, so that the device has a link. `noDevice`: the code of the fault where the node has no such device. */
  static of(deviceId: string, noDevice: u32): Driver {
    if (deviceId == "") return new Driver(null, false);
    const selector = new DeviceSelector();
    selector.deviceId = deviceId;
    const found = findDevice(selector);
    if (!found.isOk) return new Driver(found.error, false);
    const device = found.value;
    if (device === null) return new Driver(ownFault(noDevice, `device ${deviceId} not found or unsupported`), false);
    const driver = device.facts.driver;
    return new Driver(null, device.link === null && driver !== null && drivers.includes(driver));
  }
}

/**
 * The result of a device that a driver of user space has: the addresses are the application's to use. `noAddress`: the code of the fault where IPAM
 * answers none; its DEL is called then.
 */
export function resultWithoutLink(request: AttachmentRequest, ipam: string, mac: string | null, noAddress: u32): SuccessOrFault {
  const result = new Success();
  const device = new NetworkInterface(request.attachment.ifname);
  device.sandbox = request.attachment.netns;
  device.mac = mac;
  result.interfaces.push(device);
  if (ipam == "") return SuccessOrFault.ok(result);
  const answer = delegation.add(ipam, null);
  if (!answer.isOk) return answer;
  const ips = answer.value.ips;
  if (ips.length == 0) {
    delegation.del(ipam, null);
    return SuccessOrFault.err(ownFault(noAddress, `IPAM plugin ${ipam} returned missing IP config`));
  }
  for (let i = 0; i < ips.length; i++) {
    const ip = new IpConfig(ips[i].address);
    ip.gateway = ips[i].gateway;
    ip.interface_ = new Some<i32>(0);
    result.ips.push(ip);
  }
  result.routes = answer.value.routes;
  result.dns = answer.value.dns;
  return SuccessOrFault.ok(result);
}
