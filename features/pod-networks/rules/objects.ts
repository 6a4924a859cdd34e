// PodNetwork and PodNetworkAttachment of the API group plexus.dev/v1alpha1, with the fields of KEP-3698 ("New Resources").

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { type Condition, readConditions } from "../../../src/kube/conditions.ts";
import { type ObjectParts, problem, readParts, type Reading } from "../../../src/kube/object-parts.ts";

/** The API group and version of both kinds. The group k8s.io needs the approval of Kubernetes' API reviewers. */
export const podNetworkGroup = "plexus.dev";
/** See `podNetworkGroup`. */
export const podNetworkApiVersion = `${podNetworkGroup}/v1alpha1`;
/** The finalizer that keeps an object while it is in use (KE-13, KE-21). */
export const inUseFinalizer = "plexus.dev/in-use";

/** An object with parameters of the implementation. */
export interface ParametersRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Empty if the reference has none. */
  readonly namespace: string;
}

/** The members that both kinds have. */
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

/** Reads a PodNetwork. The API server has validated it by the CustomResourceDefinition, but another server may answer. */
export function readPodNetwork(object: unknown): Reading<PodNetwork> {
  const common = readCommon(object, false);
  if (!common.ok) return common;
  const { enabled = true, provider = "" } = common.value.spec;
  if (typeof enabled !== "boolean") return problem(`spec.enabled is ${describeJson(enabled)}`);
  if (typeof provider !== "string") return problem(`spec.provider is ${describeJson(provider)}`);
  return { ok: true, value: { ...common.value.common, enabled, provider } };
}

/** Reads a PodNetworkAttachment. */
export function readPodNetworkAttachment(object: unknown): Reading<PodNetworkAttachment> {
  const common = readCommon(object, true);
  if (!common.ok) return common;
  const { podNetworkName } = common.value.spec;
  if (typeof podNetworkName !== "string") return problem(`spec.podNetworkName is ${describeJson(podNetworkName)}`);
  return { ok: true, value: { ...common.value.common, podNetworkName } };
}

/** Whether the condition `type` is True for the object's present specification. */
export function isTrue({ conditions, generation }: NetworkObject, type: string): boolean {
  const condition = conditions.find((each) => each.type === type);
  return condition?.status === "True" && condition.observedGeneration >= generation;
}

/** The fields of both kinds, and the specification. */
interface Common {
  readonly common: NetworkObject;
  readonly spec: ObjectParts["spec"];
}

function readCommon(object: unknown, isNamespaced: boolean): Reading<Common> {
  const parts = readParts(object, { isNamespaced });
  if (!parts.ok) return parts;
  const { namespace, metadata, spec, status } = parts.value;
  const refs = readRefs(spec["parametersRefs"]);
  if (!refs.ok) return refs;
  const { conditions, phase } = status;
  return {
    ok: true,
    value: {
      spec,
      common: {
        ...metadata,
        namespace,
        parametersRefs: refs.value,
        conditions: readConditions(conditions),
        phase: typeof phase === "string" ? phase : "",
      },
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
