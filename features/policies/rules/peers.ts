// The peers of policies as queries: a network, the pods' namespaces and the pods. The controller answers each query with NetworkAddressSlices, so that no
// node watches pods of other nodes.

import type { IpAddress } from "../../../src/net/ip.ts";
import { type LabelSelector, type Labels, selects } from "./label-selector.ts";
import type { PodPeer, Policy, PolicyRule } from "./policy.ts";
import type { NamedPort } from "../../../src/kube/named-ports.ts";

/** Pods of one network. */
export interface PeerQuery {
  readonly network: string;
  /** One namespace by name, or namespaces by their labels. */
  readonly namespaces: { readonly name: string } | { readonly selector: LabelSelector };
  readonly pods: LabelSelector;
  /** The named ports that the answer has, sorted; empty if the policy names none. */
  readonly portNames: readonly string[];
}

/** A pod that a query finds. */
export interface Peer {
  /** The pod's namespace; undefined: the policy's own, or a slice of a release whose slices have no namespaces. */
  readonly namespace?: string | undefined;
  /** Addresses in the query's network. */
  readonly addresses: readonly IpAddress[];
  readonly ports: readonly NamedPort[];
}

/** Finds the pods of a query. */
export type FindPeers = (query: PeerQuery) => readonly Peer[];

/** The text of a query. Equal queries have equal texts, because selectors are sorted. */
export function queryText({ network, namespaces, pods, portNames }: PeerQuery): string {
  const where = "name" in namespaces ? [namespaces.name] : namespaces.selector.map(requirementParts);
  return JSON.stringify([network, "name" in namespaces, where, pods.map(requirementParts), portNames]);
}

function requirementParts({ key, operator, values }: LabelSelector[number]): readonly unknown[] {
  return [key, operator, values];
}

/** The names of the ports that an egress rule names. The ports belong to the peers. */
export function peerPortNames({ ports }: PolicyRule): readonly string[] {
  const names = ports.flatMap(({ port }) => (port !== undefined && "name" in port ? [port.name] : []));
  return [...new Set(names)].toSorted();
}

/** The query of one peer of a policy on one of the policy's networks. */
export function peerQuery(namespace: string, peer: PodPeer, network: string, portNames: readonly string[]): PeerQuery {
  const namespaces = peer.namespaces === undefined ? { name: namespace } : { selector: peer.namespaces };
  return { network, namespaces, pods: peer.pods, portNames };
}

/** Every pod of a network: the peers of a rule without peers whose port has a name. */
export function everyPod(network: string, portNames: readonly string[]): PeerQuery {
  return { network, namespaces: { selector: [] }, pods: [], portNames };
}

/** The queries of one rule. */
export function ruleQueries(namespace: string, rule: PolicyRule, isEgress: boolean, network: string): readonly PeerQuery[] {
  const portNames = isEgress ? peerPortNames(rule) : [];
  if (rule.peers.length === 0) return portNames.length === 0 ? [] : [everyPod(network, portNames)];
  return rule.peers.flatMap((peer) => (peer.kind === "pods" ? [peerQuery(namespace, peer, network, portNames)] : []));
}

/** All queries of a policy on a network. */
export function policyQueries({ namespace, ingress, egress }: Policy, network: string): readonly PeerQuery[] {
  return [
    ...(ingress ?? []).flatMap((rule) => ruleQueries(namespace, rule, false, network)),
    ...(egress ?? []).flatMap((rule) => ruleQueries(namespace, rule, true, network)),
  ];
}

/** Whether a query finds a pod of this namespace with these labels. */
export function finds(
  query: PeerQuery,
  pod: { readonly namespace: string; readonly namespaceLabels: Labels | undefined; readonly labels: Labels },
): boolean {
  return findsNamespace(query, pod.namespace, pod.namespaceLabels) && selects(query.pods, pod.labels);
}

/**
 * Whether a query may find pods of this namespace. `labels`: those of the namespace; undefined: they are not known, because one watch may be behind another. A
 * selector then finds no pod: `NotIn` would find the pods of a namespace that has the label.
 */
export function findsNamespace({ namespaces }: PeerQuery, namespace: string, labels: Labels | undefined): boolean {
  if ("name" in namespaces) return namespaces.name === namespace;
  return labels !== undefined && selects(namespaces.selector, labels);
}
