// NetworkPolicies of `networking.k8s.io/v1` on further networks: they are for the PodNetworks with `spec.policies: NetworkPolicy`, and for no other network.

import { isJsonObject } from "../../../src/json/document.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { type Policy, readPolicy, type UnreadablePolicy } from "./policy.ts";
import { podNetworkPrefix } from "../../../src/npwg/network-name.ts";

/** The collection of all PodNetworks. */
export const podNetworksPath = "/apis/plexus.dev/v1alpha1/podnetworks";

/** The collection's path of NetworkPolicies of all namespaces, or of one. */
export function networkPoliciesPath(namespace?: string): string {
  return `/apis/networking.k8s.io/v1/${namespace === undefined ? "" : `namespaces/${namespace}/`}networkpolicies`;
}

/** A PodNetwork as far as policies depend on it. */
export interface AskingPodNetwork {
  readonly name: string;
  /** The name by which policies reach the network: `podnetwork/NAME`. */
  readonly network: string;
  /** Whether NetworkPolicies apply on the network. */
  readonly asks: boolean;
}

/** Reads a PodNetwork; undefined without usable metadata. */
export function readAsker(object: unknown): AskingPodNetwork | undefined {
  const meta = readObjectMeta(object);
  if (!meta.ok) return undefined;
  const { name } = meta.value;
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  return { network: `${podNetworkPrefix}${name}`, name, asks: isJsonObject(spec) && spec["policies"] === "NetworkPolicy" };
}

/** The networks that ask, sorted. */
export function askingNetworks(podNetworks: Iterable<AskingPodNetwork>): readonly string[] {
  return [...podNetworks].flatMap(({ network, asks }) => (asks ? [network] : [])).toSorted();
}

/** Reads a NetworkPolicy; undefined without usable metadata. `networks`: the networks that ask for NetworkPolicies. */
export function readNetworkPolicy(object: unknown, networks: readonly string[]): Policy | UnreadablePolicy | undefined {
  const policy = readPolicy(object, "NetworkPolicy");
  return policy === undefined ? undefined : { ...policy, networks };
}
