// The devices of a pod's resource claims, which the pod's networks share out among themselves.

import type { AllocatorDevices } from "../../../src/npwg/allocator-devices.ts";
import type { AllocatedDevice } from "./claim-allocation.ts";
import type { DeviceAttributes } from "./slice-devices.ts";

/** A device that a claim has allocated to the pod, and that a network can use. */
export interface ClaimedDevice {
  readonly deviceId: string;
  /** The names by which a definition can ask for the device: the driver's attribute, and the pod's extended resource. */
  readonly resourceNames: readonly string[];
}

/** Distributes a pod's claimed devices: each is given once, in the order of the pod's claims and of their allocations. */
export class ClaimedDevices implements AllocatorDevices {
  readonly allocators = "the pod's resource claims";
  readonly #remaining: ClaimedDevice[];
  /** Why allocated devices cannot be used for a network, for messages. */
  readonly notes: readonly string[];

  constructor(devices: readonly ClaimedDevice[], notes: readonly string[] = []) {
    this.#remaining = [...devices];
    this.notes = notes;
  }

  /** The next device of the resource; undefined if the pod has fewer devices than its networks need. */
  next(resourceName: string): string | undefined {
    return this.#remove(({ resourceNames }) => resourceNames.includes(resourceName));
  }

  /** Takes the device that a selection names. False if no claim of the pod has it, or another network does. */
  take(resourceName: string, deviceId: string): boolean {
    const isNamed = (each: ClaimedDevice): boolean => each.deviceId === deviceId && each.resourceNames.includes(resourceName);
    return this.#remove(isNamed) !== undefined;
  }

  #remove(isWanted: (device: ClaimedDevice) => boolean): string | undefined {
    const index = this.#remaining.findIndex(isWanted);
    return index === -1 ? undefined : this.#remaining.splice(index, 1)[0]?.deviceId;
  }
}

/** An allocated device of a pod, with what its driver publishes about it. */
export interface PublishedDevice {
  readonly allocated: AllocatedDevice;
  /** Undefined: the driver publishes no such device for the pod's node. */
  readonly attributes: DeviceAttributes | undefined;
  /** The extended resources that the device stands for; empty in a claim that the pod names. */
  readonly extendedResources: readonly string[];
}

/**
 * The devices that networks can use. A device of several claims' entries counts once, and so does a device ID, unless it is a share of a
 * device. A device without a device ID, such as a GPU, is no network's.
 */
export function usableDevices(published: readonly PublishedDevice[]): ClaimedDevices {
  const allocations = new Set<string>();
  const deviceIds = new Set<string>();
  const usable: ClaimedDevice[] = [];
  const notes: string[] = [];
  for (const { allocated, attributes, extendedResources } of published) {
    const { driver, pool, device, shareId } = allocated;
    const allocation = JSON.stringify([driver, pool, device, shareId]);
    if (allocations.has(allocation)) continue;
    allocations.add(allocation);
    const name = `device ${pool}/${device} of driver ${driver}`;
    const resourceNames = [attributes?.resourceName ?? "", ...extendedResources].filter((each) => each !== "");
    if (attributes === undefined) notes.push(`${name} is in no ResourceSlice of the node`);
    else if (attributes.deviceId === "") notes.push(`${name} has no attribute k8s.cni.cncf.io/deviceID`);
    else if (resourceNames.length === 0) notes.push(`${name} has no attribute k8s.cni.cncf.io/resourceName`);
    else if (shareId === "" && deviceIds.has(attributes.deviceId)) notes.push(`${name} has the device ID of another device`);
    else {
      deviceIds.add(attributes.deviceId);
      usable.push({ deviceId: attributes.deviceId, resourceNames });
    }
  }
  return new ClaimedDevices(usable, notes);
}
