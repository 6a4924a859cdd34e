// A daemon's in-memory copy of policies, and of those slices that policies of its own pods name. The watch of policies begins with the first lookup, and
// a namespace's watch of slices when one of its policies selects a pod of the node.

import { ok, type Result } from "../../src/fault/result.ts";
import { isJsonObject } from "../../src/json/document.ts";
import type { WatchAccess, WatchedObjects } from "../../host/cluster/object-source.ts";
import { Reflector, type ReflectorState } from "../../host/cluster/kube/reflector.ts";
import { contentSize, slicesPath } from "./rules/address-slice.ts";
import {
  type AskingPodNetwork,
  askingNetworks,
  networkPoliciesPath,
  podNetworksPath,
  readAsker,
  readNetworkPolicy,
} from "./rules/network-policies.ts";
import {
  keptNetworkPolicy,
  keptPolicy,
  type KeptPolicy,
  keptSlice,
  type KeptSlice,
  policiesPath,
  type PolicySource,
  sliceSelector,
} from "./node/policy-source.ts";
import { notePolicyChange, onPolicyRound, policyRound } from "./policy-changes.ts";
import { readObjectMeta } from "../../src/npwg/object-meta.ts";

/** 5,000 policies of 2 KB take some 20 MB. Policies beyond the limit are read from the API. */
const policyBounds = { maxObject: 256 * 1024, maxTotal: 16 * 1024 * 1024 };
/** Slices of one namespace: 100,000 addresses take some 6 MB. */
const sliceBounds = { maxObject: 512 * 1024, maxTotal: 8 * 1024 * 1024 };
/** Rounds of the daemon's part, which asks all queries of its pods, after which a query that no pod has asked leaves the watch. */
const unusedRounds = 2;

type Watch = Pick<Reflector<unknown>, "live" | "completeIn" | "state" | "start" | "stop" | "renew">;

interface SliceWatch {
  readonly ids: ReadonlySet<string>;
  readonly reflector: Reflector<KeptSlice>;
}

/** Holds policies and slices. */
export class PolicyInformers implements WatchedObjects<PolicySource> {
  readonly #access: WatchAccess;
  readonly #count: (held: boolean) => void;
  readonly #policies: Reflector<KeptPolicy>;
  readonly #networkPolicies: Reflector<object>;
  /** Each NetworkPolicy as it was read last, so that a lookup without a change answers the same object. */
  readonly #readPolicies = new WeakMap<object, { readonly networks: string; readonly kept: KeptPolicy | undefined }>();
  readonly #podNetworks: Reflector<AskingPodNetwork>;
  readonly #slices = new Map<string, SliceWatch>();
  /** The round in which each query of a namespace was asked last. */
  readonly #asked = new Map<string, Map<string, number>>();
  /** The watches that a lookup has begun. */
  readonly #begun: Watch[] = [];
  readonly #endRounds = onPolicyRound(() => this.#endUnused());
  #stopped = false;

  /** `count` is called for each lookup: whether the memory answered it. */
  constructor(access: WatchAccess, count: (held: boolean) => void) {
    this.#access = access;
    this.#count = count;
    this.#policies = new Reflector<KeptPolicy>({
      ...access,
      what: "MultiNetworkPolicies",
      path: policiesPath(),
      query: {},
      metadataOnly: false,
      consistent: true,
      absentIsEmpty: true,
      bounds: policyBounds,
      read: (object) => {
        const kept = keptPolicy(object);
        if (kept === undefined) return undefined;
        const { namespace, name } = kept.policy;
        // The policy itself takes about as much as its text.
        return { namespace, name, value: kept, size: 2 * kept.text.length };
      },
      onChange: notePolicyChange,
      onFirstList: () => notePolicyChange(undefined),
    });
    this.#networkPolicies = new Reflector<object>({
      ...access,
      what: "NetworkPolicies",
      path: networkPoliciesPath(),
      query: {},
      metadataOnly: false,
      consistent: true,
      bounds: policyBounds,
      // The object is kept as it is: its networks are those of the PodNetworks at the time of a lookup.
      read: (object) => {
        const policy = readNetworkPolicy(object, []);
        if (policy === undefined) return undefined;
        const { namespace, name } = policy;
        return isJsonObject(object) ? { namespace, name, value: object, size: JSON.stringify(object).length } : undefined;
      },
      onChange: notePolicyChange,
      onFirstList: () => notePolicyChange(undefined),
    });
    this.#podNetworks = new Reflector<AskingPodNetwork>({
      ...access,
      what: "PodNetworks of policies",
      path: podNetworksPath,
      query: {},
      metadataOnly: false,
      consistent: true,
      absentIsEmpty: true,
      bounds: sliceBounds,
      read: (object) => {
        const asker = readAsker(object);
        return asker === undefined ? undefined : { namespace: "", name: asker.name, value: asker, size: 100 };
      },
      onChange: () => notePolicyChange(undefined),
      onFirstList: () => notePolicyChange(undefined),
    });
  }

  /** Empty before the first lookup. */
  get states(): readonly ReflectorState[] {
    const slices = [...this.#slices.values()].map(({ reflector }) => reflector.state);
    return [...this.#begun.map(({ state }) => state), ...slices];
  }

  over(source: PolicySource): PolicySource {
    return {
      policies: async (namespace): Promise<Result<readonly KeptPolicy[]>> => {
        const isHeld = this.#holds(this.#policies, namespace);
        this.#count(isHeld);
        if (!isHeld) return source.policies(namespace);
        return ok([...this.#policies.stored()].filter((each) => each.namespace === namespace).map(({ value }) => value));
      },
      networkPolicies: async (namespace): Promise<Result<readonly KeptPolicy[]>> => {
        const knowsNetworks = this.#holds(this.#podNetworks, "");
        const networks = askingNetworks([...this.#podNetworks.stored()].map(({ value }) => value));
        // NetworkPolicies of the whole cluster are watched only where a PodNetwork asks for them.
        const isHeld = knowsNetworks && (networks.length === 0 || this.#holds(this.#networkPolicies, namespace));
        this.#count(isHeld);
        if (!isHeld) return source.networkPolicies(namespace);
        if (networks.length === 0) return ok([]);
        const ofNamespace = [...this.#networkPolicies.stored()].filter((each) => each.namespace === namespace);
        return ok(ofNamespace.flatMap(({ value }) => this.#networkPolicy(value, networks) ?? []));
      },
      slices: async (namespace, ids): Promise<Result<readonly KeptSlice[]>> => {
        const watch = this.#watchOf(namespace, ids);
        const isHeld = watch?.reflector.live === true && watch.reflector.complete;
        this.#count(isHeld);
        if (!isHeld) return source.slices(namespace, ids);
        const wanted = new Set(ids);
        return ok([...watch.reflector.stored()].flatMap(({ value }) => (wanted.has(value.id) ? [value] : [])));
      },
    };
  }

  renew(): void {
    for (const each of this.#begun) each.renew();
    for (const { reflector } of this.#slices.values()) reflector.renew();
  }

  stop(): void {
    this.#stopped = true;
    this.#endRounds();
    for (const each of this.#begun) each.stop();
    for (const { reflector } of this.#slices.values()) reflector.stop();
    this.#slices.clear();
  }

  #networkPolicy(object: object, networks: readonly string[]): KeptPolicy | undefined {
    const text = networks.join(" ");
    const known = this.#readPolicies.get(object);
    if (known?.networks === text) return known.kept;
    const kept = keptNetworkPolicy(object, networks);
    this.#readPolicies.set(object, { networks: text, kept });
    return kept;
  }

  /** Ends the watches of namespaces whose queries no pod of the node asks any more. */
  #endUnused(): void {
    for (const [namespace, asked] of this.#asked) {
      forgetUnused(asked, policyRound());
      if (asked.size > 0) continue;
      this.#asked.delete(namespace);
      this.#slices.get(namespace)?.reflector.stop();
      this.#slices.delete(namespace);
    }
  }

  /** Whether the watch holds all of the namespace's objects. The first question begins the watch. */
  #holds(reflector: Watch, namespace: string): boolean {
    if (!this.#begun.includes(reflector) && !this.#stopped) {
      this.#begun.push(reflector);
      reflector.start();
    }
    return reflector.live && reflector.completeIn(namespace);
  }

  /** The watch of a namespace's slices for these queries and others that its pods asked; a new query makes it anew. */
  #watchOf(namespace: string, ids: readonly string[]): SliceWatch | undefined {
    if (ids.length === 0 || this.#stopped) return undefined;
    const round = policyRound();
    const asked = this.#asked.get(namespace) ?? new Map<string, number>();
    this.#asked.set(namespace, asked);
    for (const id of ids) asked.set(id, round);
    const known = this.#slices.get(namespace);
    if (known !== undefined && ids.every((id) => known.ids.has(id))) return known;
    forgetUnused(asked, round);
    known?.reflector.stop();
    const watched = [...asked.keys()];
    const reflector = new Reflector<KeptSlice>({
      ...this.#access,
      what: `NetworkAddressSlices of namespace ${namespace}`,
      path: slicesPath(namespace),
      query: { labelSelector: sliceSelector(watched) },
      metadataOnly: false,
      consistent: true,
      bounds: sliceBounds,
      read: (object) => {
        const [kept, meta] = [keptSlice(object), readObjectMeta(object)];
        if (kept === undefined || !meta.ok) return undefined;
        return { namespace, name: meta.value.name, value: kept, size: contentSize(kept) };
      },
      onChange: () => notePolicyChange(namespace),
      onFirstList: () => notePolicyChange(namespace),
    });
    const watch = { ids: new Set(watched), reflector };
    this.#slices.set(namespace, watch);
    reflector.start();
    return watch;
  }
}

function forgetUnused(asked: Map<string, number>, round: number): void {
  for (const [id, at] of asked) if (round - at > unusedRounds) asked.delete(id);
}
