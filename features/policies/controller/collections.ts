// The collections that the part for policies watches, and the queries that a change of each makes due.

import { CollectionGroup } from "../../../host/controller/collection-group.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { WatchedCollection } from "../../../host/controller/watched-collection.ts";
import { type AddressSlice, slicesPath } from "../rules/address-slice.ts";
import type { Labels } from "../rules/label-selector.ts";
import { finds, findsNamespace, type Peer, type PeerQuery } from "../rules/peers.ts";
import { type AskingPodNetwork, askingNetworks, networkPoliciesPath, podNetworksPath } from "../rules/network-policies.ts";
import { boundedPolicy } from "../rules/policy-bounds.ts";
import { ChangePace } from "../../../host/cluster/work/change-pace.ts";
import { AskedQueries } from "./asked-queries.ts";
import { queryOf } from "./query-key.ts";
import { reportMistakes, reportUnanswered, type SeenPolicy } from "./report-mistakes.ts";
import { SliceIndex } from "./slice-index.ts";
import {
  isSamePeer,
  queriesOf,
  storedAsker,
  storedNamespace,
  storedNetworkPolicy,
  storedPod,
  type StoredPod,
  storedPolicy,
  storedSlice,
} from "./stored.ts";

/** Pause in which further changes of a query's pods are collected, in ms. */
const collectMs = 100;

const noQueries: ReadonlyMap<string, PeerQuery> = new Map();

/** The watched objects. `onDue` receives the key of each query whose slices may have to change. */
export class PolicyCollections {
  readonly #policies: WatchedCollection<SeenPolicy>;
  readonly #networkPolicies: WatchedCollection<SeenPolicy>;
  readonly #podNetworks: WatchedCollection<AskingPodNetwork>;
  readonly #pods: WatchedCollection<StoredPod>;
  readonly #namespaces: WatchedCollection<Labels>;
  readonly #sliceIndex = new SliceIndex();
  readonly #asked: AskedQueries;
  /** The pods of each network. */
  readonly #podsOfNetwork = new Map<string, Set<string>>();
  readonly #podsSeen = new Map<string, { readonly namespace: string; readonly pod: StoredPod }>();
  readonly #namespacesSeen = new Map<string, Labels>();
  /** The PodNetworks that ask for NetworkPolicies, as policies name them. */
  #asking: readonly string[] = [];
  readonly #context: PartContext;
  readonly #onDue: (key: string, afterMs: number) => void;
  readonly watched: CollectionGroup;

  constructor(context: PartContext, onDue: (key: string, afterMs: number) => void) {
    const pace = new ChangePace(() => context.clock.now());
    this.#onDue = (key, afterMs) => onDue(key, pace.pauseMs(queryOf(key).namespace, afterMs));
    this.#asked = new AskedQueries((key) => this.#onDue(key, 0));
    this.#context = context;
    this.#policies = new WatchedCollection(context, {
      what: "multi-networkpolicies",
      path: "/apis/k8s.cni.cncf.io/v1beta1/multi-networkpolicies",
      absentIsEmpty: true,
      read: storedPolicy,
      onChange: (namespace, name) => this.#policyChanged(namespace, name),
    });
    this.#networkPolicies = new WatchedCollection(context, {
      what: "networkpolicies",
      path: networkPoliciesPath(),
      read: storedNetworkPolicy,
      onChange: (namespace, name) => this.#networkPolicyChanged(namespace, name),
    });
    this.#podNetworks = new WatchedCollection(context, {
      what: "podnetworks of policies",
      path: podNetworksPath,
      absentIsEmpty: true,
      read: storedAsker,
      onChange: () => this.#podNetworkChanged(),
    });
    this.#pods = new WatchedCollection(context, {
      what: "pods of policies",
      path: "/api/v1/pods",
      query: { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" },
      read: storedPod,
      onChange: (namespace, name) => this.#podChanged(namespace, name),
    });
    this.#namespaces = new WatchedCollection(context, {
      what: "namespaces",
      path: "/api/v1/namespaces",
      metadataOnly: true,
      read: storedNamespace,
      onChange: (_, name) => this.#namespaceChanged(name),
    });
    const slices: WatchedCollection<AddressSlice> = new WatchedCollection(context, {
      what: "networkaddressslices",
      path: slicesPath(""),
      read: storedSlice,
      onChange: (namespace, name) => {
        for (const key of this.#sliceIndex.put(namespace, name, slices.get(namespace, name))) this.#onDue(key, collectMs);
      },
    });
    // Before everything is listed, slices of pods that are not seen yet would be emptied.
    this.watched = new CollectionGroup({
      listed: [this.#policies, this.#networkPolicies, this.#podNetworks, this.#pods, this.#namespaces, slices],
    });
  }

  /** The query, if a policy of the namespace asks it. */
  asked(key: string): PeerQuery | undefined {
    return this.#asked.get(key);
  }

  /** The slices of a query, by their numbers. */
  slicesOf(key: string): readonly AddressSlice[] {
    return this.#sliceIndex.slicesOf(key);
  }

  /** The pods that a query finds, with its named ports only, and with their namespaces if the query may find pods of several. */
  peers(query: PeerQuery): readonly Peer[] {
    const found: Peer[] = [];
    for (const key of this.#podsOfNetwork.get(query.network) ?? []) {
      const seen = this.#podsSeen.get(key);
      const addresses = seen?.pod.addresses.get(query.network);
      if (seen === undefined || addresses === undefined || !this.#finds(query, seen)) continue;
      const namespace = "name" in query.namespaces ? undefined : seen.namespace;
      found.push({ namespace, addresses, ports: seen.pod.ports.filter(({ name }) => query.portNames.includes(name)) });
    }
    return found;
  }

  #finds(query: PeerQuery, { namespace, pod }: { readonly namespace: string; readonly pod: StoredPod }): boolean {
    const namespaceLabels = this.#namespacesSeen.get(namespace);
    return finds(query, { namespace, namespaceLabels, labels: pod.labels });
  }

  #policyChanged(namespace: string, name: string): void {
    const [key, seen] = [`${namespace}/${name}`, this.#policies.get(namespace, name)];
    if (seen === undefined) this.#asked.set(key, namespace, noQueries);
    else this.#asks(key, seen);
  }

  #networkPolicyChanged(namespace: string, name: string): void {
    const [key, seen] = [`NetworkPolicy ${namespace}/${name}`, this.#networkPolicies.get(namespace, name)];
    if (seen === undefined) this.#asked.set(key, namespace, noQueries);
    else this.#asks(key, { ...seen, policy: boundedPolicy({ ...seen.policy, networks: this.#asking }) });
  }

  /** The networks that NetworkPolicies are for have changed if one asks now or does no longer. */
  #podNetworkChanged(): void {
    const asking = askingNetworks([...this.#podNetworks.all()].map(({ value }) => value));
    if (asking.join(" ") === this.#asking.join(" ")) return;
    this.#asking = asking;
    for (const { policy } of [...this.#networkPolicies.all()].map(({ value }) => value))
      this.#networkPolicyChanged(policy.namespace, policy.name);
  }

  /** Notes the queries of a policy. `key` is unique among the policies. */
  #asks(key: string, seen: SeenPolicy): void {
    reportMistakes(this.#context, seen);
    const fits = this.#asked.set(key, seen.policy.namespace, queriesOf(seen.policy));
    if (!fits) reportUnanswered(this.#context, seen);
  }

  #podChanged(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const before = this.#podsSeen.get(key);
    const pod = this.#pods.get(namespace, name);
    const after = pod === undefined || pod.addresses.size === 0 ? undefined : { namespace, pod };
    // Most changes of a pod are of its containers' states, and a list that is read anew has each pod.
    if (before === undefined ? after === undefined : after !== undefined && isSamePeer(before.pod, after.pod)) return;
    if (after === undefined) this.#podsSeen.delete(key);
    else this.#podsSeen.set(key, after);
    for (const network of before?.pod.addresses.keys() ?? [])
      if (after?.pod.addresses.has(network) !== true) this.#leave(network, key);
    for (const network of after?.pod.addresses.keys() ?? [])
      this.#podsOfNetwork.set(network, (this.#podsOfNetwork.get(network) ?? new Set()).add(key));
    const networks = new Set([...(before?.pod.addresses.keys() ?? []), ...(after?.pod.addresses.keys() ?? [])]);
    for (const network of networks) {
      for (const each of this.#asked.ofNetwork(network)) {
        const query = this.asked(each);
        const isConcerned = query !== undefined && [before, after].some((seen) => seen !== undefined && this.#finds(query, seen));
        if (isConcerned) this.#onDue(each, collectMs);
      }
    }
  }

  #leave(network: string, pod: string): void {
    const pods = this.#podsOfNetwork.get(network);
    pods?.delete(pod);
    if (pods?.size === 0) this.#podsOfNetwork.delete(network);
  }

  #namespaceChanged(name: string): void {
    const before = this.#namespacesSeen.get(name);
    const labels = this.#namespaces.get("", name);
    if (labels === undefined) this.#namespacesSeen.delete(name);
    else this.#namespacesSeen.set(name, labels);
    for (const [key, query] of this.#asked.all())
      if (findsNamespace(query, name, before) !== findsNamespace(query, name, labels)) this.#onDue(key, collectMs);
  }
}
