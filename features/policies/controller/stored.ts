// The stored parts of the objects that the part for policies watches.

import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { labelsOf } from "../../../src/npwg/pod.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { StoredObject } from "../../../host/cluster/kube/object-store.ts";
import { type AddressSlice, contentSize, readSlice } from "../rules/address-slice.ts";
import type { Labels } from "../rules/label-selector.ts";
import { podAddresses } from "../../../src/npwg/pod-addresses.ts";
import { type PeerQuery, policyQueries } from "../rules/peers.ts";
import { type AskingPodNetwork, readAsker, readNetworkPolicy } from "../rules/network-policies.ts";
import { boundedPolicy } from "../rules/policy-bounds.ts";
import { type Policy, readPolicy, type UnreadablePolicy } from "../rules/policy.ts";
import { type NamedPort, namedPorts } from "../../../src/kube/named-ports.ts";
import { queryId } from "../query-id.ts";
import type { SeenPolicy } from "./report-mistakes.ts";

/** A pod that may be a peer. */
export interface StoredPod {
  readonly labels: Labels;
  readonly ports: readonly NamedPort[];
  /** By network. */
  readonly addresses: ReadonlyMap<string, readonly IpAddress[]>;
}

/** Reads a pod. A pod without addresses on further networks is stored, too: it may get some. */
export function storedPod(object: unknown): StoredObject<StoredPod> | undefined {
  const meta = readObjectMeta(object);
  if (!meta.ok) return undefined;
  const { namespace, name, annotations } = meta.value;
  const addresses = podAddresses((key) => annotations.get(key));
  const isPeer = addresses.size > 0;
  const value = {
    labels: isPeer ? labelsOf(object) : new Map<string, string>(),
    ports: isPeer ? namedPorts(object) : [],
    addresses,
  };
  return { namespace, name, value, size: podSize(value) };
}

/** Whether each query finds the same with either version of a pod. */
export function isSamePeer(one: StoredPod, other: StoredPod): boolean {
  return peerText(one) === peerText(other);
}

function peerText({ labels, ports, addresses }: StoredPod): string {
  return JSON.stringify([[...labels], ports, [...addresses].map(([network, own]) => [network, own.map(formatAddress)])]);
}

/** The memory of a pod in characters: an address takes some 80. */
function podSize({ labels, ports, addresses }: StoredPod): number {
  const ofLabels = [...labels].reduce((sum, [key, text]) => sum + 50 + key.length + text.length, 0);
  const ofPorts = ports.reduce((sum, { name }) => sum + 50 + name.length, 0);
  return [...addresses].reduce((sum, [network, own]) => sum + 50 + network.length + 80 * own.length, ofLabels + ofPorts);
}

/** Reads a namespace's labels. */
export function storedNamespace(object: unknown): StoredObject<Labels> | undefined {
  const meta = readObjectMeta(object);
  if (!meta.ok) return undefined;
  const labels = labelsOf(object);
  const size = [...labels].reduce((sum, [key, text]) => sum + 50 + key.length + text.length, 0);
  return { namespace: "", name: meta.value.name, value: labels, size };
}

/** Reads a MultiNetworkPolicy. */
export function storedPolicy(object: unknown): StoredObject<SeenPolicy> | undefined {
  return stored(object, readPolicy(object, "MultiNetworkPolicy"));
}

/** The queries of a policy on its networks, by their ids. An unreadable policy asks none: its pods are isolated by the failure policy of their nodes. */
export function queriesOf(policy: Policy | UnreadablePolicy): ReadonlyMap<string, PeerQuery> {
  const queries = "problem" in policy ? [] : policy.networks.flatMap((network) => policyQueries(policy, network));
  return new Map(queries.map((query) => [queryId(query), query]));
}

/** Reads a NetworkPolicy. Its networks are those of the PodNetworks that ask, whenever its queries are made. */
export function storedNetworkPolicy(object: unknown): StoredObject<SeenPolicy> | undefined {
  return stored(object, readNetworkPolicy(object, []));
}

function stored(object: unknown, policy: Policy | UnreadablePolicy | undefined): StoredObject<SeenPolicy> | undefined {
  const meta = readObjectMeta(object);
  if (policy === undefined || !meta.ok) return undefined;
  const value = { policy: boundedPolicy(policy), uid: meta.value.uid };
  return { namespace: policy.namespace, name: policy.name, value, size: JSON.stringify(object).length };
}

/** Reads what policies need of a PodNetwork. */
export function storedAsker(object: unknown): StoredObject<AskingPodNetwork> | undefined {
  const asker = readAsker(object);
  return asker === undefined ? undefined : { namespace: "", name: asker.name, value: asker, size: 100 };
}

/** Reads a slice; undefined for one that another writer has spoilt, so that it is written anew. */
export function storedSlice(object: unknown): StoredObject<AddressSlice> | undefined {
  const slice = readSlice(object);
  if (!slice.ok) return undefined;
  const { namespace, metadata } = slice.value;
  return { namespace, name: metadata.name, value: slice.value, size: contentSize(slice.value) };
}
