// The work on one AddressPool: its finalizer, the acceptance of its ranges, its status, and its end.

import { addressBlocksPath } from "../rules/address-block.ts";
import { type AddressPool, poolFinalizer } from "../rules/address-pool.ts";
import { addressReservationsPath } from "../rules/address-reservation.ts";
import { type Acceptance, acceptRanges, type PoolForAcceptance } from "../rules/pool-acceptance.ts";
import { differs, poolStatus, type PoolStatus } from "../rules/pool-status.ts";
import { usageOf } from "../rules/pool-usage.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { type PoolCollections, paths } from "./collections.ts";
import type { PartClock } from "./part-clock.ts";
import { poolTarget, rfc3339 } from "./pool-events.ts";
import { type StoredPool, storedPool } from "./stored.ts";

const done: WorkOutcome = { kind: "done" };
/** Pause of a pool that is being deleted before its finalizer may go, in ms: a daemon's claim may be under way, which takes a request's time limit. */
const claimsMs = 30_000;
/** Interval in ms of the search for blocks of a pool that is being deleted. A change of a block makes the work due, too. */
const blocksMs = 30_000;

/** The work on pools in one term of the leader. */
export class PoolWork {
  readonly #context: PartContext;
  readonly #collections: PoolCollections;
  readonly #clock: PartClock;
  /** When this leader first saw a pool's deletion, by uid. */
  readonly #deletions = new Map<string, number>();
  /** The last acceptance. Pools are accepted one after the other, so that no two get the same ranges. */
  #accepting: Promise<unknown> = Promise.resolve();

  constructor(context: PartContext, collections: PoolCollections, clock: PartClock) {
    this.#context = context;
    this.#collections = collections;
    this.#clock = clock;
  }

  async workOn(name: string): Promise<WorkOutcome> {
    const stored = this.#collections.pools.get("", name);
    if (stored === undefined) return done;
    const { metadata, pool } = stored;
    const hasFinalizer = metadata.finalizers.includes(poolFinalizer);
    if (metadata.isDeleted) return hasFinalizer ? this.#end(stored) : done;
    if (!pool.ok) return this.#write(stored, { acceptedRanges: 0, overlap: undefined });
    const others = this.#knownPools().filter((other) => other.uid !== metadata.uid);
    const seen = acceptRanges(forAcceptance(stored, pool.value), others);
    // A pool without new ranges needs no acceptance: its status repeats the API's.
    if (seen.acceptedRanges !== pool.value.acceptedRanges) return this.#accept(stored, pool.value);
    // Nodes claim no block without the finalizer, and so none before the first range is accepted.
    if (hasFinalizer || seen.acceptedRanges === 0) return this.#write(stored, seen);
    return outcomeOf(await this.#setFinalizers(stored, [...metadata.finalizers, poolFinalizer]));
  }

  /** Accepts ranges by a list of all pools, and writes the status, before another pool's ranges are accepted. */
  #accept(stored: StoredPool, pool: AddressPool): Promise<WorkOutcome> {
    const accepted = this.#accepting.then(async (): Promise<WorkOutcome> => {
      const listed = await this.#context.objects.list(paths.pools);
      if (listed.kind !== "list") return { kind: "failed", why: listed.why };
      const all = listed.items.flatMap((item) => storedPool(item)?.value ?? []);
      const others = all.flatMap((each) => {
        return each.pool.ok && each.metadata.uid !== stored.metadata.uid ? [forAcceptance(each, each.pool.value)] : [];
      });
      return this.#write(stored, acceptRanges(forAcceptance(stored, pool), others));
    });
    this.#accepting = accepted.catch(() => undefined);
    return accepted;
  }

  async #write(stored: StoredPool, acceptance: Acceptance): Promise<WorkOutcome> {
    const { metadata, pool, conditions } = stored;
    const { name, uid, resourceVersion, generation, isDeleted } = metadata;
    const reservations = this.#collections.reservationsOf(name);
    const blocks = this.#collections.blocksOf(name);
    const { ranges, exclusions, blockSize } = pool.ok ? pool.value : { ranges: [], exclusions: [], blockSize: 1 };
    const used = { ranges: ranges.slice(0, acceptance.acceptedRanges), exclusions, blockSize };
    const status = poolStatus({
      generation,
      conditions,
      problem: pool.ok ? undefined : pool.problem,
      isDeleted,
      acceptance,
      usage: usageOf(used, blocks, reservations),
      now: rfc3339(this.#context.clock.date()),
    });
    if (!differs(stored.status, status)) return done;
    const written = await this.#context.objects.patch(`${paths.pools}/${name}/status`, {
      metadata: { uid, resourceVersion },
      status,
    });
    if (written.kind === "object") this.#announce(stored, status);
    return outcomeOf(written);
  }

  /** Removes the finalizer of a pool that is being deleted when no block and no reservation is left. */
  async #end(stored: StoredPool): Promise<WorkOutcome> {
    const { name, uid, finalizers } = stored.metadata;
    const { now: clock, maxPauseMs } = this.#clock;
    const now = clock();
    const since = this.#deletions.get(uid) ?? now;
    this.#deletions.set(uid, since);
    const acceptedRanges = stored.pool.ok ? stored.pool.value.acceptedRanges : 0;
    const written = await this.#write(stored, { acceptedRanges, overlap: undefined });
    if (written.kind === "failed") return written;
    if (now - since < claimsMs) return { kind: "again", afterMs: Math.min(maxPauseMs, claimsMs - (now - since)) };
    for (const path of [addressBlocksPath, addressReservationsPath]) {
      const left = await this.#context.objects.list(path, { fieldSelector: `spec.pool=${name}` }, { metadataOnly: true });
      if (left.kind !== "list") return { kind: "failed", why: left.why };
      if (left.items.length > 0) return { kind: "again", afterMs: Math.min(maxPauseMs, blocksMs) };
    }
    // The status may have been written just now, and with it the resourceVersion.
    const fresh = this.#collections.pools.get("", name);
    if (fresh === undefined) return done;
    const kept = finalizers.filter((each) => each !== poolFinalizer);
    const removed = await this.#setFinalizers(fresh, kept);
    if (removed.kind === "object") this.#deletions.delete(uid);
    return outcomeOf(removed);
  }

  #setFinalizers({ metadata }: StoredPool, finalizers: readonly string[]): ReturnType<PartContext["objects"]["patch"]> {
    const { name, uid, resourceVersion } = metadata;
    return this.#context.objects.patch(`${paths.pools}/${name}`, { metadata: { uid, resourceVersion, finalizers } });
  }

  #knownPools(): readonly PoolForAcceptance[] {
    return [...this.#collections.pools.all()].flatMap(({ value }) =>
      value.pool.ok ? [forAcceptance(value, value.pool.value)] : [],
    );
  }

  /** An Event for each condition whose status changes. */
  #announce({ metadata, conditions }: StoredPool, status: PoolStatus): void {
    for (const { type, status: now, reason, message } of status.conditions) {
      const before = conditions.find((each) => each.type === type)?.status;
      const isBad = now === (type === "Ready" ? "False" : "True");
      if (before === now || (before === undefined && !isBad && type !== "Ready")) continue;
      this.#context.event(poolTarget(metadata.name, metadata.uid), { reason, message, type: isBad ? "Warning" : "Normal" });
    }
  }
}

function forAcceptance({ metadata, created }: StoredPool, { ranges, acceptedRanges }: AddressPool): PoolForAcceptance {
  return { name: metadata.name, uid: metadata.uid, created, ranges, acceptedRanges };
}
