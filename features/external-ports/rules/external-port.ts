// ExternalPort of the API group plexus.dev/v1alpha1: the port of an outer fabric (OpenStack, EC2, an SDN) for one interface of a pod.

import { describeJson } from "../../../src/json/document.ts";
import { type Condition, readConditions } from "../../../src/kube/conditions.ts";
import { type ObjectMetadata, problem, readParts, type Reading } from "../../../src/kube/object-parts.ts";
import { maxAddresses, type ProvidedPort, readProvidedPort } from "./provided-port.ts";
import { isCount, isText, type Members, objectOf } from "./values.ts";

/** The API group and version. */
export const externalPortApiVersion = "plexus.dev/v1alpha1";
/** The finalizer that keeps an ExternalPort until its provider has released the port. */
export const externalPortFinalizer = "plexus.dev/external-port";
/** The label with the pod's UID, by which the ports of a pod are listed. */
export const podUidLabel = "plexus.dev/pod-uid";

/** The specification of an ExternalPort. plexus-controller writes it once. */
export interface ExternalPortSpec {
  readonly podName: string;
  readonly podUid: string;
  readonly nodeName: string;
  /** Position of the network in the pod's selection, from 0. */
  readonly index: number;
  readonly definition: { readonly namespace: string; readonly name: string };
  readonly provider: string;
  /** The definition's parameters for the provider, a JSON object as text. */
  readonly parameters: string;
  readonly requested: { readonly mac?: string; readonly ips?: readonly string[] };
}

/** An ExternalPort. */
export interface ExternalPort extends ObjectMetadata {
  readonly namespace: string;
  readonly spec: ExternalPortSpec;
  /** Undefined until the provider has made the port. */
  readonly port: ProvidedPort | undefined;
  readonly conditions: readonly Condition[];
}

/**
 * Whether the provider's port was released: the object's finalizer is gone. A finalizer of another program may keep such an object, which then holds no
 * port. An object that is not deleted holds its port without the finalizer too, because its pod runs.
 */
export function isReleased({ isDeleted, finalizers }: ExternalPort): boolean {
  return isDeleted && !finalizers.includes(externalPortFinalizer);
}

/** The name of the ExternalPort of a pod's network: unique for ever, because a UID is. */
export function externalPortName(podUid: string, index: number): string {
  return `${podUid}-${index}`;
}

const maxParameters = 8_192;

/** Reads an ExternalPort from an answer of the API, which may come from another server. */
export function readExternalPort(object: unknown): Reading<ExternalPort> {
  const parts = readParts(object, { isNamespaced: true });
  if (!parts.ok) return parts;
  const { namespace, metadata, status } = parts.value;
  const spec = readSpec(parts.value.spec);
  if (!spec.ok) return spec;
  const port = status["providerId"] === undefined ? undefined : readProvidedPort(status);
  if (port?.ok === false) return problem(`status: ${port.problem}`);
  return {
    ok: true,
    value: {
      ...metadata,
      namespace,
      spec: spec.value,
      port: port?.value,
      conditions: readConditions(status["conditions"]),
    },
  };
}

function readSpec(spec: Members): Reading<ExternalPortSpec> {
  const { podName, podUid, nodeName, index, provider, parameters = "{}" } = spec;
  const { namespace, name } = objectOf(spec["definition"]);
  for (const [key, value] of Object.entries({ podName, podUid, nodeName, provider })) {
    if (!isText(value, 253)) return problem(`spec.${key} is ${describeJson(value)}`);
  }
  if (!isCount(index, 127)) return problem(`spec.index is ${describeJson(index)}`);
  if (!isText(namespace, 63) || !isText(name, 63)) return problem("spec.definition needs namespace and name");
  if (typeof parameters !== "string" || parameters.length > maxParameters) return problem("spec.parameters is no short text");
  const { mac, ips } = objectOf(spec["requested"]);
  const requested = {
    ...(typeof mac === "string" ? { mac } : {}),
    ...(Array.isArray(ips) ? { ips: ips.filter((each) => typeof each === "string").slice(0, maxAddresses) } : {}),
  };
  const texts = { podName, podUid, nodeName, provider } as Record<"podName" | "podUid" | "nodeName" | "provider", string>;
  return { ok: true, value: { ...texts, index, definition: { namespace, name }, parameters, requested } };
}
