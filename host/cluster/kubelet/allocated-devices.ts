// The devices that the kubelet allocated to a pod: from its service, else from its checkpoint (MA-03). Loaded only where a
// definition names a resource.

import { existsSync } from "node:fs";
import { ok, type Result } from "../../src/fault/result.ts";
import { DeviceAllocation } from "../../src/npwg/device-id.ts";
import { checkpointDevices } from "./checkpoint.ts";
import { podResources } from "./pod-resources.ts";

/** The kubelet's root directory. */
export const kubeletDirectory = "/var/lib/kubelet";

/** What is left to be handed out; nothing where there is neither service nor checkpoint. Fault KUBELET_UNREADABLE. */
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
