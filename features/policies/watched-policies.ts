// A daemon's in-memory copy of policies, and of those slices that policies of its own pods name. The watch of policies begins with the first lookup, and
// a namespace's watch of slices when one of its policies selects a pod of the node.

import { ok, type Result } from "../../src/fault/result.ts";
import type { WatchAccess, WatchedObjects } from "../../host/cluster/object-source.ts";
import { Reflector, type ReflectorState } from "../../host/cluster/kube/reflector.ts";
import { slicesPath } from "./rules/address-slice.ts";
import {
  keptPolicy,
  type KeptPolicy,
  keptSlice,
  type KeptSlice,
  policiesPath,
  type PolicySource,
  sliceSelector,
} from "./node/policy-source.ts";
import { notePolicyChange, policyRound } from "./policy-changes.ts";
import { readObjectMeta } from "../../src/npwg/object-meta.ts";

/** 5,000 policies of 2 KB take some 20 MB. Policies beyond the limit are read from the API. */
const policyBounds = { maxObject: 256 * 1024, maxTotal: 16 * 1024 * 1024 };
/** Slices of one namespace: 100,000 addresses take some 6 MB. */
const sliceBounds = { maxObject: 512 * 1024, maxTotal: 8 * 1024 * 1024 };
/** Rounds of the daemon's part, which asks all queries of its pods, after which a query that no pod has asked leaves the watch. */
const unusedRounds = 2;

interface SliceWatch {
  readonly ids: ReadonlySet<string>;
  readonly reflector: Reflector<KeptSlice>;
}

/** Holds policies and slices. */
export class PolicyInformers implements WatchedObjects<PolicySource> {
  readonly #access: WatchAccess;
  readonly #count: (held: boolean) => void;
  readonly #policies: Reflector<KeptPolicy>;
  readonly #slices = new Map<string, SliceWatch>();
  /** The round in which each query of a namespace was asked last. */
  readonly #asked = new Map<string, Map<string, number>>();
  #started = false;
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
    });
  }

  /** Empty before the first lookup. */
  get states(): readonly ReflectorState[] {
    const slices = [...this.#slices.values()].map(({ reflector }) => reflector.state);
    return this.#started ? [this.#policies.state, ...slices] : [];
  }

  over(source: PolicySource): PolicySource {
    return {
      policies: async (namespace): Promise<Result<readonly KeptPolicy[]>> => {
        this.#start();
        const isHeld = this.#policies.live && this.#policies.complete;
        this.#count(isHeld);
        if (!isHeld) return source.policies(namespace);
        return ok([...this.#policies.stored()].filter((each) => each.namespace === namespace).map(({ value }) => value));
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
    this.#policies.renew();
    for (const { reflector } of this.#slices.values()) reflector.renew();
  }

  stop(): void {
    this.#stopped = true;
    this.#policies.stop();
    for (const { reflector } of this.#slices.values()) reflector.stop();
    this.#slices.clear();
  }

  #start(): void {
    if (this.#started || this.#stopped) return;
    this.#started = true;
    this.#policies.start();
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
    for (const [id, at] of asked) if (round - at > unusedRounds) asked.delete(id);
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
        return { namespace, name: meta.value.name, value: kept, size: kept.query.length + 100 * kept.endpoints.length };
      },
      onChange: () => notePolicyChange(namespace),
    });
    const watch = { ids: new Set(watched), reflector };
    this.#slices.set(namespace, watch);
    reflector.start();
    return watch;
  }
}
