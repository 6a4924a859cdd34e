// The readiness of a node for the cluster's default PodNetwork, as KEP-3698 described the kubelet's check: the runtime's STATUS fails, so that the
// kubelet reports the node as not ready.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { FeatureObjects } from "../../host/cluster/cluster.ts";
import { podNetworkObjects } from "./pod-network-objects.ts";
import { defaultPodNetwork } from "./rules/pod-networks.ts";

/**
 * Succeeds if the API has a PodNetwork "default", in whatever state. Faults: POD_NETWORK_NOT_READY; those of the API, because an ADD
 * of a pod that names networks would fail, too.
 */
export async function defaultPodNetworkExists(cluster: FeatureObjects | undefined): Promise<Result<void>> {
  const source = await cluster?.objects?.(podNetworkObjects);
  if (source === undefined)
    return failed(fault("POD_NETWORK_NOT_READY", "requireDefaultPodNetwork needs the Kubernetes API (kubeconfig)"));
  const found = await source.network(defaultPodNetwork);
  if (!found.ok) return found;
  // The words of the KEP's condition of the node.
  return found.value === undefined
    ? failed(fault("POD_NETWORK_NOT_READY", `${defaultPodNetwork} PodNetwork not found in API`))
    : ok(undefined);
}
