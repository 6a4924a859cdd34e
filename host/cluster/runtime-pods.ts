// Pods as the runtime tells of them: containerd hands a pod's annotations to a configuration that declares the capability
// `io.kubernetes.cri.pod-annotations`, so the selection needs no request. They are the kubelet's, which started this sandbox for
// this pod; whatever else a pod needs (its definitions, its status) is still asked of the cluster.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { describeJson, isJsonObject, type JsonObjectDocument, memberValue } from "../../src/json/document.ts";
import { isStatic } from "../../src/npwg/pod.ts";
import type { Cluster } from "./cluster.ts";

/** containerd's capability. */
export const podAnnotationsCapability = "io.kubernetes.cri.pod-annotations";

/** The annotations in the runtime's configuration; undefined where it gives none. Fault CONFIG_INVALID. */
export function runtimeAnnotations(document: JsonObjectDocument): Result<ReadonlyMap<string, string> | undefined> {
  const runtimeConfig = memberValue(document, "runtimeConfig");
  const given = isJsonObject(runtimeConfig) ? runtimeConfig[podAnnotationsCapability] : undefined;
  if (given === undefined || given === null) return ok(undefined);
  if (!isJsonObject(given)) return wrong(`must be an object, but is ${describeJson(given)}`);
  const annotations = new Map<string, string>();
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== "string") return wrong(`${key} must be a string, but is ${describeJson(value)}`);
    annotations.set(key, value);
  }
  return ok(annotations);
}

function wrong(why: string): Result<never> {
  return failed(fault("CONFIG_INVALID", `configuration: runtimeConfig.${podAnnotationsCapability}: ${why}`));
}

/**
 * `cluster` with the runtime's word for the pod of this call. A static pod is still looked up: its uid in the cluster is its
 * mirror's. Without a cluster (`undefined`) a selection names configurations in confDir: a definition without a configuration
 * of its own means just that (NPWG 3.4.1), and nobody is told anything.
 */
export function withRuntimeAnnotations(cluster: Cluster | undefined, annotations: ReadonlyMap<string, string>): Cluster {
  const standIn: Cluster = {
    pod: async (namespace, name, { uid } = {}) => ok({ namespace, name, annotations, ...(uid === undefined ? {} : { uid }) }),
    networkAttachmentDefinition: async (namespace, name) => ok({ namespace, name, annotations: new Map() }),
    publishStatus: async () => ok(undefined),
    tell: () => {},
    end: async () => {},
  };
  if (cluster === undefined) return standIn;
  return {
    ...cluster,
    pod: (namespace, name, expected = {}) => {
      const pod = { namespace, name, annotations, uid: expected.uid ?? "" };
      return pod.uid === "" || isStatic(pod) ? cluster.pod(namespace, name, expected) : standIn.pod(namespace, name, expected);
    },
  };
}
