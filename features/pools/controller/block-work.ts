// The work on one AddressBlock: a block of a node that is gone is marked, and deleted after a wait (features/pools/rules/free-block.ts).

import { poolMetrics } from "../metrics.ts";
import { type AddressBlock, orphanedPatch, readAddressBlock } from "../rules/address-block.ts";
import { type FreeStep, nextFreeStep } from "../rules/free-block.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { type PoolCollections, paths } from "./collections.ts";
import type { PartClock } from "./part-clock.ts";
import { nodePresence } from "./node-presence.ts";
import { poolTarget, rfc3339 } from "./pool-events.ts";

const done: WorkOutcome = { kind: "done" };
/** Interval in ms of the search for pods of a node that is gone. Kubernetes' garbage collector deletes these pods. */
const podsMs = 10_000;

/** When this leader first saw a block's mark. A later change of the block begins a new wait: the mark may have been removed in between. */
interface Sighting {
  readonly uid: string;
  readonly resourceVersion: string;
  /** On the monotonic clock, in ms. */
  readonly since: number;
}

/** The work on blocks in one term of the leader. */
export class BlockWork {
  readonly #context: PartContext;
  readonly #collections: PoolCollections;
  readonly #clock: PartClock;
  readonly #sightings = new Map<string, Sighting>();

  constructor(context: PartContext, collections: PoolCollections, clock: PartClock) {
    this.#context = context;
    this.#collections = collections;
    this.#clock = clock;
  }

  async workOn(name: string): Promise<WorkOutcome> {
    const block = this.#collections.blocks.get("", name);
    if (block === undefined || !block.isOrphaned) this.#sightings.delete(name);
    if (block === undefined) return done;
    const markedForMs = block.isOrphaned ? this.#markedForMs(block) : undefined;
    if (!block.isOrphaned && this.#collections.nodes.get("", block.node) !== undefined) return done;
    const presence = await nodePresence(this.#context.objects, block.node);
    if (presence.kind === "unknown") return presence.outcome;
    const step = nextFreeStep({ block, ...presence, markedForMs });
    return this.#take(step, block, markedForMs ?? 0, presence.podsBound);
  }

  #take(step: FreeStep, block: AddressBlock, markedForMs: number, podsBound: number): Promise<WorkOutcome> | WorkOutcome {
    switch (step) {
      case "keep":
        return podsBound > 0 ? { kind: "again", afterMs: Math.min(this.#clock.maxPauseMs, podsMs) } : done;
      case "mark":
      case "unmark":
        return this.#mark(block, step === "mark");
      case "wait":
        return { kind: "again", afterMs: Math.min(this.#clock.maxPauseMs, block.freeAfterSeconds * 1_000 - markedForMs) };
      case "delete":
        return this.#delete(block);
      default:
        return step satisfies never;
    }
  }

  #markedForMs({ name, uid, resourceVersion }: AddressBlock): number {
    const now = this.#clock.now();
    const seen = this.#sightings.get(name);
    if (seen?.uid === uid && seen.resourceVersion === resourceVersion) return now - seen.since;
    this.#sightings.set(name, { uid, resourceVersion, since: now });
    return 0;
  }

  async #mark(block: AddressBlock, isGone: boolean): Promise<WorkOutcome> {
    const { name, uid, resourceVersion, pool, node, freeAfterSeconds } = block;
    const metadata = { uid, resourceVersion };
    const written = await this.#context.objects.patch(`${paths.blocks}/${name}/status`, {
      metadata,
      ...orphanedPatch(isGone ? rfc3339(this.#context.clock.date()) : undefined),
    });
    if (written.kind === "object") {
      const message = isGone
        ? `node ${node} is gone, and no pod is bound to it: block ${name} is freed in ${freeAfterSeconds} s`
        : `node ${node} is back, or a pod is bound to it: block ${name} stays with it`;
      this.#event(pool, { reason: isGone ? "NodeGone" : "NodeBack", message, type: "Normal" });
    }
    return outcomeOf(written);
  }

  /** Reads the block after the look at its node: an `unmark` of another leader in between makes the deletion fail. */
  async #delete({ name, uid, resourceVersion, pool, node }: AddressBlock): Promise<WorkOutcome> {
    const path = `${paths.blocks}/${name}`;
    const fresh = await this.#context.objects.get(path);
    if (fresh.kind !== "object") return outcomeOf(fresh);
    const block = readAddressBlock(fresh.object);
    // The watch brings the newer state, and with it the next work.
    if (!block.ok || block.value.uid !== uid || block.value.resourceVersion !== resourceVersion || !block.value.isOrphaned) {
      return { kind: "again", afterMs: podsMs };
    }
    const removed = await this.#context.objects.remove(path, { uid, resourceVersion });
    if (removed.kind === "object") {
      this.#context.metrics.with(poolMetrics).add("plexus_controller_pool_blocks_freed_total", {});
      this.#event(pool, {
        reason: "BlockFreed",
        message: `block ${name} of node ${node}, which is gone, is free`,
        type: "Normal",
      });
    }
    return outcomeOf(removed);
  }

  #event(pool: string, content: Parameters<PartContext["event"]>[1]): void {
    const uid = this.#collections.pools.get("", pool)?.metadata.uid;
    if (uid !== undefined) this.#context.event(poolTarget(pool, uid), content);
  }
}
