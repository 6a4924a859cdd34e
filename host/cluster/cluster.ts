// What Plexus needs of a cluster. A directory of manifests and the Kubernetes API stand behind the same interface.

import type { Result } from "../../src/fault/result.ts";
import type { NetworkAttachmentDefinition } from "../../src/npwg/network-attachment-definition.ts";
import type { Pod } from "../../src/npwg/pod.ts";

export type { Pod } from "../../src/npwg/pod.ts";

export interface Cluster {
  /**
   * The pod. `uid` is the runtime's `K8S_POD_UID`: a pod of the same name with another uid is refused, unless it is a
   * static pod, whose uid in the cluster is its mirror's (MO-04). Faults: POD_NOT_FOUND (never a success, MO-03),
   * CLUSTER_UNREADABLE.
   */
  readonly pod: (namespace: string, name: string, expected?: { readonly uid?: string | undefined }) => Promise<Result<Pod>>;

  /** The definition. Faults: NETWORK_NOT_FOUND, NETWORK_INVALID, CLUSTER_UNREADABLE. */
  readonly networkAttachmentDefinition: (namespace: string, name: string) => Promise<Result<NetworkAttachmentDefinition>>;

  /** Makes `annotation` the pod's `k8s.v1.cni.cncf.io/network-status`. Faults: CLUSTER_UNREADABLE, STORE_FAILED. */
  readonly publishStatus: (pod: Pod, annotation: string) => Promise<Result<void>>;
}
