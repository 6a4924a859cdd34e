// The external ports of a pod: one for each network of its selection whose definition names a provider. A pod gets all of them or none (KU-20, KU-21).

import { parseSelection, networksAnnotation } from "../../../src/npwg/selection.ts";
import { checkNamespace, type NamespacePolicy } from "../../../src/npwg/namespace-policy.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import type { Pod } from "../../../src/npwg/pod.ts";
import { definitionProvider } from "./definition-provider.ts";
import {
  externalPortApiVersion,
  externalPortFinalizer,
  externalPortName,
  type ExternalPortSpec,
  podUidLabel,
} from "./external-port.ts";

/** The fields of a pod that decide whether it needs ports. */
export interface PodFacts extends Pod {
  readonly uid: string;
  /** Empty until the pod is scheduled. */
  readonly nodeName: string;
  readonly phase: string;
  readonly isHostNetwork: boolean;
}

/** The annotations of a definition; undefined if the definition does not exist. */
export type FindDefinition = (namespace: string, name: string) => ReadonlyMap<string, string> | undefined;

/** The specifications of a pod's ports, or the reason why it gets none. */
export type WantedPorts =
  | { readonly ok: true; readonly ports: readonly ExternalPortSpec[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Whether the pod waits for its interfaces, so that ports are made: it is on a node and has not begun to run (KU-15). A running pod keeps its ports
 * until it is gone.
 */
export function waitsForPorts({ nodeName, phase, isHostNetwork }: PodFacts): boolean {
  return nodeName !== "" && phase === "Pending" && !isHostNetwork;
}

const notIsolated: NamespacePolicy = { namespaceIsolation: false, globalNamespaces: [] };

/**
 * The ports that a pod's selection asks for. A definition that does not exist, or that `isolation` keeps from the pod, has no port: the node's ADD
 * refuses the pod.
 */
export function wantedPorts(pod: PodFacts, find: FindDefinition, profile: NpwgProfile, isolation = notIsolated): WantedPorts {
  const selection = parseSelection(pod.annotations.get(networksAnnotation), pod.namespace, profile);
  if (!selection.ok) return { ok: false, problem: selection.fault.msg };
  const ports: ExternalPortSpec[] = [];
  for (const [index, { namespace, name, mac, ips }] of selection.value.networks.entries()) {
    if (!checkNamespace(isolation, pod.namespace, { namespace, name }, "network").ok) continue;
    const annotations = find(namespace, name);
    const provider = annotations === undefined ? ({ kind: "none" } as const) : definitionProvider(annotations);
    if (provider.kind === "none") continue;
    if (provider.kind === "invalid")
      return { ok: false, problem: `NetworkAttachmentDefinition ${namespace}/${name}: ${provider.problem}` };
    ports.push({
      podName: pod.name,
      podUid: pod.uid,
      nodeName: pod.nodeName,
      index,
      definition: { namespace, name },
      provider: provider.value.provider,
      parameters: JSON.stringify(provider.value.parameters),
      requested: { ...(mac === undefined ? {} : { mac }), ...(ips === undefined ? {} : { ips }) },
    });
  }
  return { ok: true, ports };
}

/** The object of a port. It belongs to its pod, so the API's garbage collector asks for its deletion when the pod is gone. */
export function externalPortObject(namespace: string, spec: ExternalPortSpec): Readonly<Record<string, unknown>> {
  const { podName: name, podUid: uid } = spec;
  return {
    apiVersion: externalPortApiVersion,
    kind: "ExternalPort",
    metadata: {
      name: externalPortName(spec.podUid, spec.index),
      namespace,
      labels: { [podUidLabel]: spec.podUid },
      finalizers: [externalPortFinalizer],
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    spec,
  };
}
