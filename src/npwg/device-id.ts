// Which device of a resource an attachment gets, and how its plugins are told (Multus' `k8s.v1.cni.cncf.io/resourceName`).

import { ok, type Result } from "../fault/result.ts";
import { editMembers, parseDocument } from "../json/document.ts";
import type { NetworkList, PluginConf } from "../cni/network-list.ts";
import { withPlugins } from "./network-plugins.ts";

/** Annotation of a NetworkAttachmentDefinition: the resource whose devices its attachments use. */
export const resourceNameAnnotation = "k8s.v1.cni.cncf.io/resourceName";

/** The devices that the kubelet allocated to a pod, of one container and resource, in the kubelet's order. */
export interface AllocatedDevices {
  readonly resourceName: string;
  readonly deviceIds: readonly string[];
}

/**
 * Hands out a pod's devices: each attachment of a resource gets the next one in the kubelet's order, containers in theirs.
 * The order is not changed: device plugins that pair devices with containers rely on it.
 */
export class DeviceAllocation {
  readonly #left = new Map<string, string[]>();
  readonly #known: boolean;

  /** `undefined`: there is no kubelet that could have allocated any. */
  constructor(devices: readonly AllocatedDevices[] | undefined) {
    this.#known = devices !== undefined;
    for (const { resourceName, deviceIds } of devices ?? []) {
      this.#left.set(resourceName, [...(this.#left.get(resourceName) ?? []), ...deviceIds]);
    }
  }

  /** The next device; undefined where the pod was given fewer than its networks ask for. */
  next(resourceName: string): string | undefined {
    return this.#left.get(resourceName)?.shift();
  }

  /**
   * Takes a device that a selection names, so that no other attachment gets it. False: the kubelet didn't allocate it to the pod,
   * or it was handed out. Where no kubelet allocates devices, none is anybody's.
   */
  take(resourceName: string, deviceId: string): boolean {
    const left = this.#left.get(resourceName) ?? [];
    const index = left.indexOf(deviceId);
    if (index !== -1) left.splice(index, 1);
    return index !== -1 || !this.#known;
  }
}

/**
 * The list with `deviceID` and `pciBusID` in each of its plugins, as Multus writes them (MC-25); a key that a plugin has
 * already is the author's and stays. All other bytes stay.
 */
export function withDeviceId(list: NetworkList, deviceId: string): Result<NetworkList> {
  const value = JSON.stringify(deviceId);
  return withPlugins(list, (plugin, what): Result<PluginConf> => {
    const edits = new Map(["deviceID", "pciBusID"].filter((key) => !plugin.document.members.has(key)).map((key) => [key, value]));
    if (edits.size === 0) return ok(plugin);
    const document = parseDocument(editMembers(plugin.document, edits), { what });
    return document.ok ? ok({ ...plugin, document: document.value }) : document;
  });
}
