// Selects the device of a resource for an attachment, and passes it to the attachment's plugins (Multus'
// `k8s.v1.cni.cncf.io/resourceName`).

import { ok, type Result } from "../fault/result.ts";
import { editMembers, parseDocument } from "../json/document.ts";
import type { NetworkList, PluginConf } from "../cni/network-list.ts";
import { withPlugins } from "./network-plugins.ts";

/** Annotation of a NetworkAttachmentDefinition that names the resource of its attachments' devices. */
export const resourceNameAnnotation = "k8s.v1.cni.cncf.io/resourceName";

/** The kubelet's devices of one container and resource of a pod, in the kubelet's order. */
export interface AllocatedDevices {
  readonly resourceName: string;
  readonly deviceIds: readonly string[];
}

/**
 * Distributes a pod's devices: each attachment of a resource gets the next one, in the kubelet's order of containers and devices.
 * The order stays unchanged, because device plugins that pair devices with containers rely on it.
 */
export class DeviceAllocation {
  readonly #remaining = new Map<string, string[]>();
  readonly #known: boolean;

  /** `undefined`: no kubelet runs here that could have allocated devices. */
  constructor(devices: readonly AllocatedDevices[] | undefined) {
    this.#known = devices !== undefined;
    for (const { resourceName, deviceIds } of devices ?? []) {
      this.#remaining.set(resourceName, [...(this.#remaining.get(resourceName) ?? []), ...deviceIds]);
    }
  }

  /** Whether a kubelet's allocations are known. */
  get isKnown(): boolean {
    return this.#known;
  }

  /** The next device; undefined if the pod has fewer devices than its networks need. */
  next(resourceName: string): string | undefined {
    return this.#remaining.get(resourceName)?.shift();
  }

  /**
   * Takes the device that a selection names, so that no other attachment gets it. False if the kubelet did not allocate it to the
   * pod, or if it is already taken. Without a kubelet every device is allowed.
   */
  take(resourceName: string, deviceId: string): boolean {
    const remaining = this.#remaining.get(resourceName) ?? [];
    const index = remaining.indexOf(deviceId);
    if (index !== -1) remaining.splice(index, 1);
    return index !== -1 || !this.#known;
  }
}

/**
 * The list with `deviceID` and `pciBusID` in each plugin, as Multus writes them (MC-25). Existing keys stay, because the author
 * set them. All other bytes stay.
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
