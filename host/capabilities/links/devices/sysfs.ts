// Facts of devices in /sys. Only files of the device itself are read; names come from the kernel or are checked before they are part of a path.

import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { LinksDeviceFacts } from "../../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { ParentDevice } from "../../../system/netlink/link-state.ts";

const pciAddress = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/u;

/** Whether the name is a PCI address as the kernel writes it. */
export function isPciAddress(name: string): boolean {
  return pciAddress.test(name);
}

/** A name on a bus: no separator, and not the directory itself. */
const busName = /^(?!\.{1,2}$)[\w.:-]{1,64}$/u;

/** A virtual function (SR-IOV) of an adapter. */
export interface VirtualFunction {
  readonly physical: ParentDevice;
  /** Counted from 0 within the physical function. */
  readonly number: number;
}

/** The part of /sys that devices need. `root` is /sys; tests have another one. */
export class Sysfs {
  readonly #root: string;

  constructor(root = "/sys") {
    this.#root = root;
  }

  /** The device's own directory below /sys/devices; undefined if there is none. */
  directoryOf({ bus, name }: ParentDevice): string | undefined {
    if (!busName.test(bus) || !busName.test(name)) return undefined;
    return real(join(this.#root, "bus", bus, "devices", name));
  }

  /** Whether a device has this PCI address, or this name on the auxiliary bus. A virtio link's device is below its PCI device. */
  hasId(device: ParentDevice, id: string): boolean {
    if (device.name === id) return true;
    const segments = this.directoryOf(device)?.split("/") ?? [];
    return device.bus === "virtio" && segments.at(-2) === id;
  }

  /** Whether the path leads to the device. A path that is not below /sys/devices leads nowhere. */
  isAt(device: ParentDevice, path: string): boolean {
    const directory = this.directoryOf(device);
    return (
      directory !== undefined &&
      path.startsWith("/sys/devices/") &&
      real(join(this.#root, path.slice("/sys".length))) === directory
    );
  }

  /** A device by its PCI address or its auxiliary name, also without a link; undefined if there is none. */
  find(id: string): ParentDevice | undefined {
    return ["pci", "auxiliary"].map((bus) => ({ bus, name: id })).find((device) => this.directoryOf(device) !== undefined);
  }

  /** Whether the device has a link in any network namespace: the kernel shows the links of this one alone, but the directory always. */
  hasLink(device: ParentDevice): boolean {
    const directory = this.directoryOf(device);
    return directory !== undefined && real(join(directory, "net")) !== undefined;
  }

  /** The physical function of a virtual function, and the number that this one has there; undefined for another device. */
  virtualFunctionOf(device: ParentDevice): VirtualFunction | undefined {
    const directory = this.directoryOf(device);
    const physical = directory === undefined ? undefined : real(join(directory, "physfn"));
    if (physical === undefined) return undefined;
    const entry = names(physical).find((name) => /^virtfn\d+$/u.test(name) && real(join(physical, name)) === directory);
    if (entry === undefined) return undefined;
    return { physical: { bus: "pci", name: basename(physical) }, number: Number(entry.slice("virtfn".length)) };
  }

  /** `link`: the name of the device's link, for its speed. `nameOf`: the link's name of a device, for the physical function. */
  factsOf(
    device: ParentDevice,
    link: string | undefined,
    nameOf: (device: ParentDevice) => string | undefined,
  ): LinksDeviceFacts {
    const own = this.directoryOf(device);
    const pci = own?.split("/").findLast((segment) => pciAddress.test(segment));
    const directory = pci === undefined ? own : (this.directoryOf({ bus: "pci", name: pci }) ?? own);
    if (own === undefined || directory === undefined) return { rdmaDevices: [] };
    const numa = number(text(join(directory, "numa_node")));
    const speed = link === undefined ? undefined : number(text(join(own, "net", link, "speed")));
    const physical = real(join(directory, "physfn"));
    return {
      driver: driverOf(own),
      pciAddress: pci,
      speed,
      numaNode: numa,
      physicalFunction: physical === undefined ? undefined : nameOf({ bus: "pci", name: basename(physical) }),
      rdmaDevices: names(join(directory, "infiniband")),
    };
  }
}

function driverOf(directory: string): string | undefined {
  try {
    return basename(readlinkSync(join(directory, "driver")));
  } catch {
    return undefined;
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

function names(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

/** The kernel writes -1 for an unknown number. */
function number(written: string): number | undefined {
  return /^\d{1,9}$/u.test(written) ? Number(written) : undefined;
}
