// Policies and the addresses of their peers in the Kubernetes API, for one call of a runtime.

import { ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { listObjects } from "../../../host/cluster/list-objects.ts";
import type { ClusterApi } from "../../../host/cluster/object-source.ts";
import { type SliceContent, queryLabel, readSlice, slicesPath } from "../rules/address-slice.ts";
import { askingNetworks, networkPoliciesPath, podNetworksPath, readAsker, readNetworkPolicy } from "../rules/network-policies.ts";
import { boundedPolicy } from "../rules/policy-bounds.ts";
import { type Policy, readPolicy, type UnreadablePolicy } from "../rules/policy.ts";
import { policyForAnnotation } from "../rules/policy-networks.ts";

/** A policy with its object's text, from which it can be read again. */
export interface KeptPolicy {
  readonly policy: Policy | UnreadablePolicy;
  readonly text: string;
}

/** The part of a slice that a node uses. */
export type KeptSlice = SliceContent;

/** Policies and slices of namespaces. Faults: those of the API. */
export interface PolicySource {
  /** MultiNetworkPolicies. */
  readonly policies: (namespace: string) => Promise<Result<readonly KeptPolicy[]>>;
  /** NetworkPolicies, for the PodNetworks that ask for them; none if no PodNetwork does. */
  readonly networkPolicies: (namespace: string) => Promise<Result<readonly KeptPolicy[]>>;
  /** The slices of these queries. */
  readonly slices: (namespace: string, ids: readonly string[]) => Promise<Result<readonly KeptSlice[]>>;
}

/** The collection's path of all namespaces, or of one. */
export function policiesPath(namespace?: string): string {
  return `/apis/k8s.cni.cncf.io/v1beta1/${namespace === undefined ? "" : `namespaces/${namespace}/`}multi-networkpolicies`;
}

/** The selector of the slices of these queries; of many queries, of all slices, because a request's line has a bound. */
export function sliceSelector(ids: readonly string[]): string {
  return ids.length > maxSelected ? queryLabel : `${queryLabel} in (${ids.toSorted().join(",")})`;
}

const maxSelected = 100;

/** The source, with the call's time for the API. */
export function policySource(api: ClusterApi): PolicySource {
  return {
    policies: (namespace) => list(api, policiesPath(namespace), keptPolicy),
    networkPolicies: async (namespace) => {
      const podNetworks = await list(api, podNetworksPath, readAsker);
      if (!podNetworks.ok) return podNetworks;
      const networks = askingNetworks(podNetworks.value);
      if (networks.length === 0) return ok([]);
      return list(api, networkPoliciesPath(namespace), (object) => keptNetworkPolicy(object, networks));
    },
    slices: async (namespace, ids) =>
      ids.length === 0 ? ok([]) : list(api, slicesPath(namespace), keptSlice, { labelSelector: sliceSelector(ids) }),
  };
}

/** Reads a policy; undefined without usable metadata. The text has the parts that `readPolicy` reads. */
export function keptPolicy(object: unknown): KeptPolicy | undefined {
  const policy = readPolicy(object, "MultiNetworkPolicy");
  const meta = readObjectMeta(object);
  if (policy === undefined || !meta.ok) return undefined;
  const { namespace, name } = policy;
  const networks = meta.value.annotations.get(policyForAnnotation);
  const annotations = networks === undefined ? {} : { [policyForAnnotation]: networks };
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  return { policy: boundedPolicy(policy), text: JSON.stringify({ metadata: { namespace, name, annotations }, spec }) };
}

/** Reads a NetworkPolicy for these networks; undefined without usable metadata. The text has the networks, too. */
export function keptNetworkPolicy(object: unknown, networks: readonly string[]): KeptPolicy | undefined {
  const policy = readNetworkPolicy(object, networks);
  if (policy === undefined) return undefined;
  const { namespace, name } = policy;
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  return { policy: boundedPolicy(policy), text: JSON.stringify({ networks, metadata: { namespace, name }, spec }) };
}

/** Reads the text of `keptNetworkPolicy`, parsed. */
export function storedNetworkPolicy(value: unknown): KeptPolicy | undefined {
  const networks = isJsonObject(value) ? value["networks"] : undefined;
  return Array.isArray(networks) && networks.every((each) => typeof each === "string")
    ? keptNetworkPolicy(value, networks)
    : undefined;
}

/** Reads a slice; undefined for one that is none: its addresses are then not allowed. */
export function keptSlice(object: unknown): KeptSlice | undefined {
  const slice = readSlice(object);
  return slice.ok ? { id: slice.value.id, query: slice.value.query, endpoints: slice.value.endpoints } : undefined;
}

/** The cluster may have no such kind, and so no objects of it. */
function list<T>(
  api: ClusterApi,
  path: string,
  read: (object: unknown) => T | undefined,
  query: Readonly<Record<string, string>> = {},
): Promise<Result<readonly T[]>> {
  return listObjects(api, { path, query, absentIsEmpty: true }, read);
}
