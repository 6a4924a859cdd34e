// The devices that the kubelet allocated to a pod, from its pod-resources service, else from its checkpoint (MA-03). Loaded only
// if a definition names a resource.

import { ok, type Result } from "../../../src/fault/result.ts";
import { DeviceAllocation } from "../../../src/npwg/device-id.ts";
import { connectIfPresent } from "../../store/files/reach-socket.ts";
import { checkpointDevices } from "./checkpoint.ts";
import { kubeletDirectory, podResourcesSocket } from "./kubelet-paths.ts";
import { podResources } from "./pod-resources.ts";

/** The pod's devices to distribute; without service and checkpoint, none are known. Fault KUBELET_UNREADABLE. */
export async function allocatedDevices(
  pod: { readonly namespace: string; readonly name: string; readonly uid: string | undefined },
  directory = kubeletDirectory,
): Promise<Result<DeviceAllocation>> {
  const socket = podResourcesSocket(directory);
  const connection = connectIfPresent(socket);
  const devices =
    connection === undefined
      ? checkpointDevices(`${directory}/device-plugins/kubelet_internal_checkpoint`, pod.uid ?? "")
      : await podResources(socket, connection, pod);
  return devices.ok ? ok(new DeviceAllocation(devices.value)) : devices;
}
