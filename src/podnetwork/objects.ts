// PodNetwork and PodNetworkAttachment of the API group plexus.dev/v1alpha1, with the fields of KEP-3698 ("New Resources").

import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { type Condition, readConditions } from "../kube/conditions.ts";

/** The API group and version of both kinds. The group k8s.io needs the approval of Kubernetes' API reviewers. */
export const podNetworkGroup = "plexus.dev";
/** See `podNetworkGroup`. */
export const podNetworkApiVersion = `${podNetworkGroup}/v1alpha1`;

/** An object with parameters of the implementation. */
export interface ParametersRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Empty if the reference has none. */
  readonly namespace: string;
}

/** What both kinds have in common. */
export interface NetworkObject {
  /** Empty for a PodNetwork. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Whether the object's deletion was asked for. */
  readonly isDeleted: boolean;
  readonly finalizers: readonly string[];
  readonly parametersRefs: readonly ParametersRef[];
  readonly conditions: readonly Condition[];
  /** The phase of the object's life in its status; empty before the first one. */
  readonly phase: string;
}

/** A PodNetwork. */
export interface PodNetwork extends NetworkObject {
  readonly enabled: boolean;
  /** Empty if the object has none. */
  readonly provider: string;
}

/** A PodNetworkAttachment: parameters for a pod's attachment to one PodNetwork. */
export interface PodNetworkAttachment extends NetworkObject {
  readonly podNetworkName: string;
}

/** An object, or the problem why it cannot be read, as the rest of a sentence that begins with the object's name. */
export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Reads a PodNetwork. The API server has validated it by the CustomResourceDefinition, but another server may answer. */
export function readPodNetwork(object: unknown): Reading<PodNetwork> {
  const common = readCommon(object, false);
  if (!common.ok) return common;
  const spec = specOf(object);
  const { enabled = true, provider = "" } = spec;
  if (typeof enabled !== "boolean") return problem(`spec.enabled is ${describeJson(enabled)}`);
  if (typeof provider !== "string") return problem(`spec.provider is ${describeJson(provider)}`);
  return { ok: true, value: { ...common.value, enabled, provider } };
}

/** Reads a PodNetworkAttachment. */
export function readPodNetworkAttachment(object: unknown): Reading<PodNetworkAttachment> {
  const common = readCommon(object, true);
  if (!common.ok) return common;
  const { podNetworkName } = specOf(object);
  if (typeof podNetworkName !== "string") return problem(`spec.podNetworkName is ${describeJson(podNetworkName)}`);
  return { ok: true, value: { ...common.value, podNetworkName } };
}

/** Whether the condition `type` is True for the object's present specification. */
export function isTrue({ conditions, generation }: NetworkObject, type: string): boolean {
  const condition = conditions.find((each) => each.type === type);
  return condition?.status === "True" && condition.observedGeneration >= generation;
}

function readCommon(object: unknown, namespaced: boolean): Reading<NetworkObject> {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  if (!isJsonObject(metadata)) return problem(`metadata is ${describeJson(metadata)}`);
  const { name, namespace = "", uid, resourceVersion, generation = 0, deletionTimestamp, finalizers = [] } = metadata;
  if (typeof name !== "string" || name === "") return problem(`metadata.name is ${describeJson(name)}`);
  if (typeof namespace !== "string" || (namespace !== "") !== namespaced) {
    return problem(`metadata.namespace is ${describeJson(namespace)}`);
  }
  if (typeof uid !== "string" || typeof resourceVersion !== "string") return problem("metadata has no uid or no resourceVersion");
  const refs = readRefs(specOf(object)["parametersRefs"]);
  if (!refs.ok) return refs;
  const status = isJsonObject(object) && isJsonObject(object["status"]) ? object["status"] : {};
  const { conditions, phase } = status;
  return {
    ok: true,
    value: {
      namespace,
      name,
      uid,
      resourceVersion,
      generation: typeof generation === "number" ? generation : 0,
      isDeleted: typeof deletionTimestamp === "string",
      finalizers: Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === "string") : [],
      parametersRefs: refs.value,
      conditions: readConditions(conditions),
      phase: typeof phase === "string" ? phase : "",
    },
  };
}

function readRefs(value: unknown): Reading<readonly ParametersRef[]> {
  if (value === undefined || value === null) return { ok: true, value: [] };
  if (!Array.isArray(value)) return problem(`spec.parametersRefs is ${describeJson(value)}`);
  const refs: ParametersRef[] = [];
  for (const [index, each] of value.entries()) {
    const { group, kind, name, namespace = "" } = isJsonObject(each) ? each : {};
    if (typeof group !== "string" || typeof kind !== "string" || typeof name !== "string" || typeof namespace !== "string") {
      return problem(`spec.parametersRefs[${index}] needs the texts group, kind and name: ${quote(JSON.stringify(each), 80)}`);
    }
    refs.push({ group, kind, name, namespace });
  }
  return { ok: true, value: refs };
}

function specOf(object: unknown): Readonly<Record<string, unknown>> {
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  return isJsonObject(spec) ? spec : {};
}

function problem(why: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: why };
}
