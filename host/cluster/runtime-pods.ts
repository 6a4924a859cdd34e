// Pods from the runtime: containerd passes a pod's annotations to a configuration with the capability
// `io.kubernetes.cri.pod-annotations`, so the selection needs no request. The annotations come from the kubelet, which started
// this sandbox for this pod. Definitions and status still go through the cluster, and so do the pod's labels where a feature decides by them.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { describeJson, isJsonObject, type JsonObjectDocument, memberValue } from "../../src/json/document.ts";
import { isStatic } from "../../src/npwg/pod.ts";
import type { Cluster } from "./cluster.ts";

/** containerd's capability name. */
const podAnnotationsCapability = "io.kubernetes.cri.pod-annotations";

/** The pod's annotations in the runtime's configuration; undefined if there are none. Fault CONFIG_INVALID. */
export function runtimeAnnotations(document: JsonObjectDocument): Result<ReadonlyMap<string, string> | undefined> {
  const runtimeConfig = memberValue(document, "runtimeConfig");
  const members = isJsonObject(runtimeConfig) ? runtimeConfig[podAnnotationsCapability] : undefined;
  if (members === undefined || members === null) return ok(undefined);
  if (!isJsonObject(members)) return invalid(`must be an object, but is ${describeJson(members)}`);
  const annotations = new Map<string, string>();
  for (const [key, value] of Object.entries(members)) {
    if (typeof value !== "string") return invalid(`${key} must be a string, but is ${describeJson(value)}`);
    annotations.set(key, value);
  }
  return ok(annotations);
}

function invalid(why: string): Result<never> {
  return failed(fault("CONFIG_INVALID", `configuration: runtimeConfig.${podAnnotationsCapability}: ${why}`));
}

/**
 * `cluster` with the runtime's annotations for the pod of this call. A static pod is still looked up, because its mirror pod has
 * another uid. Without a cluster (`undefined`) a selection names configurations in confDir: that is the meaning of a definition
 * without a configuration (NPWG 3.4.1). No status is then published. `needsLabels`: the pod is looked up for its labels, too, which no
 * runtime passes.
 */
export function withRuntimeAnnotations(
  cluster: Cluster | undefined,
  annotations: ReadonlyMap<string, string>,
  { needsLabels = false }: { readonly needsLabels?: boolean } = {},
): Cluster {
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
    pod: async (namespace, name, expected = {}) => {
      const pod = { namespace, name, annotations, uid: expected.uid ?? "" };
      if (pod.uid === "" || isStatic(pod)) return cluster.pod(namespace, name, expected);
      if (!needsLabels) return standIn.pod(namespace, name, expected);
      const known = await cluster.pod(namespace, name, expected);
      return known.ok ? ok({ ...known.value, annotations }) : known;
    },
  };
}
