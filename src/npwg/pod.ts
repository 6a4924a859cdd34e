// The fields of a pod that Plexus needs, read from the API or a manifest.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { readObjectMeta } from "./object-meta.ts";

/** The fields of a pod that Plexus reads. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  /** Absent if a manifest has none. */
  readonly uid?: string;
  /** Whether the pod has the label `plexus.dev/networks`: it names PodNetworks, and their admission policy has seen it. */
  readonly hasNetworksLabel?: true;
  readonly annotations: ReadonlyMap<string, string>;
  /** Absent if it has none. */
  readonly labels?: ReadonlyMap<string, string>;
}

/**
 * The label of pods that name PodNetworks. Its value is `gated` while the pod waits behind its scheduling gate, then `open`, or `placed` for a pod that
 * was made on a node.
 */
export const networksLabel = "plexus.dev/networks";

/** The kubelet's source of a pod: "api", or "file" or "http" for a static pod. */
const sourceAnnotation = "kubernetes.io/config.source";

/** On a static pod's mirror pod: the static pod's own uid, which is the hash of its manifest. */
const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Reads a pod. Fault CLUSTER_UNREADABLE. */
export function readPod(object: unknown): Result<Pod> {
  const meta = readObjectMeta(object);
  if (!meta.ok) return failed(fault("CLUSTER_UNREADABLE", `Pod ${meta.problem}`));
  const labels = labelsOf(object);
  if (labels.size === 0) return ok(meta.value);
  return ok({ ...meta.value, labels, ...(labels.has(networksLabel) ? { hasNetworksLabel: true as const } : {}) });
}

/** The labels of an object. A value that is not a text is left out. */
export function labelsOf(object: unknown): ReadonlyMap<string, string> {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const labels = isJsonObject(metadata) ? metadata["labels"] : undefined;
  if (!isJsonObject(labels)) return new Map();
  return new Map(Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** The value of a pod's label; undefined if it has none. */
export function podLabel(object: unknown, label: string): string | undefined {
  return labelsOf(object).get(label);
}

/**
 * Checks that `pod` is the runtime's pod (MO-04): `uid` is the runtime's `K8S_POD_UID`. Without one of the uids there is nothing
 * to compare. A static pod's mirror in the cluster has a uid of its own and names the static pod's uid in an annotation. Only
 * that uid is accepted, so that no pod gets another's networks by calling itself static. Fault POD_NOT_FOUND: another pod of the
 * same name has replaced the runtime's pod.
 */
export function checkPodUid(pod: Pod, uid: string | undefined): Result<Pod> {
  if (uid === undefined || uid === "" || pod.uid === undefined || pod.uid === uid) return ok(pod);
  if (pod.annotations.get(mirrorAnnotation) === uid) return ok(pod);
  const fullName = `pod ${pod.namespace}/${pod.name}`;
  return failed(fault("POD_NOT_FOUND", `${fullName} has uid ${quote(pod.uid, 60)}, but the runtime means ${quote(uid, 60)}`));
}

/** Whether the kubelet has the pod from a source other than the API, which then has its mirror pod. */
export function isStatic(pod: Pod): boolean {
  const source = pod.annotations.get(sourceAnnotation);
  return source !== undefined && source !== "api";
}
