// What Plexus needs to know of a pod, read from what the API or a manifest holds.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { readObjectMeta } from "./object-meta.ts";

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  /** Absent where a manifest gives none. */
  readonly uid?: string;
  readonly annotations: ReadonlyMap<string, string>;
}

/** Where the kubelet has a pod from: "api", or "file" or "http" of a static pod. */
const sourceAnnotation = "kubernetes.io/config.source";

/** On a static pod's mirror: the static pod's own uid, which is the hash of its manifest. */
const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Reads the object. Fault CLUSTER_UNREADABLE. */
export function readPod(object: unknown): Result<Pod> {
  const meta = readObjectMeta(object);
  return meta.ok ? ok(meta.value) : failed(fault("CLUSTER_UNREADABLE", `Pod ${meta.problem}`));
}

/**
 * Checks that `pod` is the one that the runtime means (MO-04): `uid` is its `K8S_POD_UID`. Where either side gives none
 * there is nothing to compare. A static pod's uid in the cluster is its mirror's, which names the static pod's: only that one is
 * the runtime's, so that no pod can take another's networks by calling itself static. Fault
 * POD_NOT_FOUND: a pod of the same name has taken the other's place.
 */
export function checkPodUid(pod: Pod, uid: string | undefined): Result<Pod> {
  if (uid === undefined || uid === "" || pod.uid === undefined || pod.uid === uid) return ok(pod);
  if (pod.annotations.get(mirrorAnnotation) === uid) return ok(pod);
  const who = `pod ${pod.namespace}/${pod.name}`;
  return failed(fault("POD_NOT_FOUND", `${who} has uid ${quote(pod.uid, 60)}, but the runtime means ${quote(uid, 60)}`));
}

/** Whether the kubelet has the pod from elsewhere than the API: what the API has then is its mirror. */
export function isStatic(pod: Pod): boolean {
  const source = pod.annotations.get(sourceAnnotation);
  return source !== undefined && source !== "api";
}
