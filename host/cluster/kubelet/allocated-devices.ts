// The devices that the kubelet allocated to a pod, from its pod-resources service, else from its checkpoint (MA-03). Loaded only
// if a definition names a resource.

import { existsSync } from "node:fs";
import { ok, type Result } from "../../../src/fault/result.ts";
import { DeviceAllocation } from "../../../src/npwg/device-id.ts";
import { checkpointDevices } from "./checkpoint.ts";
import { podResources } from "./pod-resources.ts";

/** The kubelet's root directory. */
export const kubeletDirectory = "/var/lib/kubelet";

/** The pod's devices to distribute; without service and checkpoint, none are known. Fault KUBELET_UNREADABLE. */
export async function allocatedDevices(
  pod: { readonly namespace: string; readonly name: string; readonly uid: string | undefined },
  directory = kubeletDirectory,
): Promise<Result<DeviceAllocation>> {
  const socket = `${directory}/pod-resources/kubelet.sock`;
  const devices = existsSync(socket)
    ? await podResources(socket, pod)
    : checkpointDevices(`${directory}/device-plugins/kubelet_internal_checkpoint`, pod.uid ?? "");
  return devices.ok ? ok(new DeviceAllocation(devices.value)) : devices;
}
