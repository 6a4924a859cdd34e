// Devices of drivers of user space (DPDK): they have no link, so that nothing moves and nothing is configured.

import { DeviceSelector, findDevice } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { NO_DEVICE } from "./codes";

const drivers: StaticArray<string> = ["vfio-pci", "uio_pci_generic", "igb_uio"];

/** Whether a driver of user space has the device of an ID. With a fault, the other field must not be used. */
@final
export class Driver {
  private constructor(
    readonly fault: Fault | null,
    readonly isOfUserSpace: bool,
  ) {}

  /** "": no ID is configured, so that the device has a link. */
  static of(deviceId: string): Driver {
    if (deviceId == "") return new Driver(null, false);
    const selector = new DeviceSelector();
    selector.deviceId = deviceId;
    const found = findDevice(selector);
    if (!found.isOk) return new Driver(found.error, false);
    const device = found.value;
    if (device === null) return new Driver(ownFault(NO_DEVICE, `device ${deviceId} not found or unsupported`), false);
    const driver = device.facts.driver;
    return new Driver(null, device.link === null && driver !== null && drivers.includes(driver));
  }
}
