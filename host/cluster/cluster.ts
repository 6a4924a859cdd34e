// What Plexus needs of a cluster. A directory of manifests and the Kubernetes API stand behind the same interface.

import type { Result } from "../../src/fault/result.ts";
import type { NetworkAttachmentDefinition } from "../../src/npwg/network-attachment-definition.ts";
import type { PodEvent } from "../../src/kube/pod-event.ts";
import type { Pod } from "../../src/npwg/pod.ts";

export type { Pod } from "../../src/npwg/pod.ts";

/**
 * Faults of every lookup: CLUSTER_UNREADABLE of a directory of manifests; API_UNREACHABLE, API_UNTRUSTED, API_UNAUTHENTICATED,
 * API_FORBIDDEN, API_REFUSED, KUBECONFIG_INVALID and CREDENTIALS_UNREADABLE of the Kubernetes API.
 */
export interface Cluster {
  /**
   * The pod. `uid` is the runtime's `K8S_POD_UID`: a pod of the same name with another uid is refused, unless it is a
   * static pod, whose uid in the cluster is its mirror's (MO-04). Fault POD_NOT_FOUND (never a success, MO-03).
   */
  readonly pod: (namespace: string, name: string, expected?: { readonly uid?: string | undefined }) => Promise<Result<Pod>>;

  /** The definition. Faults NETWORK_NOT_FOUND, NETWORK_INVALID. */
  readonly networkAttachmentDefinition: (namespace: string, name: string) => Promise<Result<NetworkAttachmentDefinition>>;

  /**
   * Makes `annotation` the pod's `k8s.v1.cni.cncf.io/network-status`. A pod that is gone or was created anew under its name
   * is passed over with a warning (MA-09, A-15). Fault STORE_FAILED of a directory.
   */
  readonly publishStatus: (pod: Pod, annotation: string) => Promise<Result<void>>;

  /** Tells whoever looks at the pod what happened (MA-06), once the call ends. Never fails a call: an event may be lost. */
  readonly tell: (pod: Pod, event: PodEvent) => void;

  /** Tells the events and waits until that is done, at most `boundMs`, and lets go of connections. Nothing is asked after it. */
  readonly end: (boundMs: number) => Promise<void>;
}
