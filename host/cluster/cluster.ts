// Plexus' interface to a cluster, which a directory of manifests and the Kubernetes API both implement.

import type { Result } from "../../src/fault/result.ts";
import type { NetworkAttachmentDefinition } from "../../src/npwg/network-attachment-definition.ts";
import type { EventPod, PodEvent } from "../../src/kube/pod-event.ts";
import type { Pod } from "../../src/npwg/pod.ts";
import type { ClusterApi, ObjectSource } from "./object-source.ts";

export type { Pod } from "../../src/npwg/pod.ts";

/** A pod as the runtime names it, with valid names. Old runtimes have no uid. */
export interface PodOfCall {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** Reads definitions. */
export interface DefinitionSource {
  /** Reads a definition. Faults NETWORK_NOT_FOUND, NETWORK_INVALID. */
  readonly networkAttachmentDefinition: (namespace: string, name: string) => Promise<Result<NetworkAttachmentDefinition>>;
}

/** The API of a cluster. */
export interface ApiSource {
  /** The Kubernetes API, with the call's time for it; undefined in a directory of manifests. */
  readonly api?: ClusterApi;
}

/** The objects of features in a cluster. */
export interface FeatureObjects {
  /** A feature's objects, which a daemon may answer from memory; undefined in a directory of manifests. */
  readonly objects?: <T>(source: ObjectSource<T>) => Promise<T>;
}

/**
 * Faults of every lookup. A directory of manifests: CLUSTER_UNREADABLE. The Kubernetes API: API_UNREACHABLE, API_UNTRUSTED,
 * API_UNAUTHENTICATED, API_FORBIDDEN, API_REFUSED, KUBECONFIG_INVALID and CREDENTIALS_UNREADABLE.
 */
export interface Cluster extends DefinitionSource, ApiSource, FeatureObjects {
  /**
   * Reads a pod. `uid` is the runtime's `K8S_POD_UID`. A pod of the same name with another uid is refused, unless it is the
   * mirror pod of that static pod (MO-04). Fault POD_NOT_FOUND (never a success, MO-03).
   */
  readonly pod: (namespace: string, name: string, expected?: { readonly uid?: string | undefined }) => Promise<Result<Pod>>;

  /**
   * Sets the pod's annotation `k8s.v1.cni.cncf.io/network-status`, and `further` annotations in the same request. A pod that was deleted or recreated under its name is skipped
   * with a warning (MA-09, A-15). Fault STORE_FAILED of a directory.
   */
  readonly publishStatus: (pod: Pod, annotation: string, further?: Readonly<Record<string, string>>) => Promise<Result<void>>;

  /**
   * Queues an event about the pod (MA-06), which is sent when the call ends. Never fails a call: an event may be lost, in a daemon after an hour without an API
   * server.
   */
  readonly tell: (pod: EventPod, event: PodEvent) => void;

  /** Sends the queued events and closes connections. Without a daemon's queue, waits for the events at most `maxMs`. No request may follow. */
  readonly end: (maxMs: number) => Promise<void>;
}
