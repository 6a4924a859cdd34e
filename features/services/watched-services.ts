// A daemon's in-memory copy of the slices of Services on the networks of its own pods. The watch begins with the first pod on a further network.

import { ok, type Result } from "../../src/fault/result.ts";
import { readObjectMeta } from "../../src/npwg/object-meta.ts";
import type { WatchAccess, WatchedObjects } from "../../host/cluster/object-source.ts";
import { Reflector, type ReflectorState } from "../../host/cluster/kube/reflector.ts";
import { keptSlice, type ServiceSource, sliceSelector } from "./node/service-source.ts";
import { type KeptSlice, keptSize } from "./rules/balance.ts";
import { endpointSlicesPath } from "./rules/service-slice.ts";
import { noteServiceChange, onServiceRound, serviceRound } from "./service-changes.ts";

/** 65,536 endpoints take some 6 MB. */
const bounds = { maxObject: 512 * 1024, maxTotal: 16 * 1024 * 1024 };
/** Rounds of the daemon's part, which asks for the networks of all its pods, after which a network that no pod has leaves the watch. */
const unusedRounds = 2;

interface SliceWatch {
  readonly networks: ReadonlySet<string>;
  readonly reflector: Reflector<KeptSlice>;
}

/** The slices of a watch that was made anew, until the new watch has its first list. */
interface SeenSlices {
  readonly networks: ReadonlySet<string>;
  readonly slices: readonly KeptSlice[];
}

/** Holds slices. */
export class ServiceInformer implements WatchedObjects<ServiceSource> {
  readonly #access: WatchAccess;
  readonly #count: (held: boolean) => void;
  /** The round in which each network was asked for last. */
  readonly #asked = new Map<string, number>();
  #watch: SliceWatch | undefined;
  #seen: SeenSlices | undefined;
  readonly #endRounds = onServiceRound(() => this.#endUnused());
  #stopped = false;

  /** `count` is called for each lookup: whether the memory answered it. */
  constructor(access: WatchAccess, count: (held: boolean) => void) {
    this.#access = access;
    this.#count = count;
  }

  /** Empty before the first lookup. */
  get states(): readonly ReflectorState[] {
    return this.#watch === undefined ? [] : [this.#watch.reflector.state];
  }

  over(source: ServiceSource): ServiceSource {
    return {
      slices: async (networks): Promise<Result<readonly KeptSlice[]>> => {
        const wanted = new Set(networks);
        const watch = this.#watchOf(networks);
        const ofWanted = (slices: readonly KeptSlice[]): readonly KeptSlice[] =>
          slices.filter(({ network }) => wanted.has(network));
        const isHeld = watch?.reflector.live === true && watch.reflector.complete;
        this.#count(isHeld);
        if (isHeld) return ok(ofWanted(slicesOf(watch)));
        const read = await source.slices(networks);
        // While the API does not answer, the slices last seen hold.
        const seen = watch?.reflector.listed === true ? { networks: wanted, slices: slicesOf(watch) } : this.#seen;
        return read.ok || seen === undefined || !wanted.isSubsetOf(seen.networks) ? read : ok(ofWanted(seen.slices));
      },
    };
  }

  renew(): void {
    this.#watch?.reflector.renew();
  }

  stop(): void {
    this.#stopped = true;
    this.#endRounds();
    this.#watch?.reflector.stop();
    this.#watch = undefined;
  }

  #forgetUnused(): void {
    const round = serviceRound();
    for (const [network, at] of this.#asked) if (round - at > unusedRounds) this.#asked.delete(network);
  }

  /** Ends the watch when no pod of the node has a further network any more. */
  #endUnused(): void {
    this.#forgetUnused();
    if (this.#asked.size > 0) return;
    this.#watch?.reflector.stop();
    this.#watch = undefined;
    this.#seen = undefined;
  }

  /** The watch for these networks and others of the node's pods; a new network makes it anew. */
  #watchOf(networks: readonly string[]): SliceWatch | undefined {
    if (networks.length === 0 || this.#stopped) return undefined;
    const round = serviceRound();
    for (const network of networks) this.#asked.set(network, round);
    const known = this.#watch;
    if (known !== undefined && networks.every((network) => known.networks.has(network))) return known;
    this.#forgetUnused();
    if (known?.reflector.listed === true) this.#seen = { networks: known.networks, slices: slicesOf(known) };
    known?.reflector.stop();
    const watched = [...this.#asked.keys()];
    /** The network of each slice: a slice that is gone no longer names it. */
    const networkOf = new Map<string, string>();
    const reflector: Reflector<KeptSlice> = new Reflector<KeptSlice>({
      ...this.#access,
      what: "EndpointSlices of further networks",
      path: endpointSlicesPath(""),
      query: { labelSelector: sliceSelector(watched) },
      metadataOnly: false,
      consistent: true,
      bounds,
      read: (object) => {
        const [kept, meta] = [keptSlice(object), readObjectMeta(object)];
        if (kept === undefined || !meta.ok) return undefined;
        const { namespace, name } = meta.value;
        return { namespace, name, value: kept, size: keptSize(kept) };
      },
      onChange: (namespace, name) => {
        const key = `${namespace}/${name}`;
        const network = reflector.lastSeen(namespace, name)?.network;
        const before = networkOf.get(key);
        if (network === undefined) networkOf.delete(key);
        else networkOf.set(key, network);
        for (const each of new Set([before, network])) if (each !== undefined) noteServiceChange(each);
      },
      onFirstList: () => watched.forEach(noteServiceChange),
    });
    this.#watch = { networks: new Set(watched), reflector };
    reflector.start();
    return this.#watch;
  }
}

function slicesOf({ reflector }: SliceWatch): readonly KeptSlice[] {
  return [...reflector.stored()].map(({ value }) => value);
}
