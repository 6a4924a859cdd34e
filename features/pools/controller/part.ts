// The part for pools of addresses: accepts pools, frees blocks of nodes that are gone, and reservations whose owners are gone.

import { setTimeout } from "node:timers/promises";
import type { ControllerPart, MakePart, PartContext } from "../../../host/controller/part.ts";
import { observeState, observeWork } from "../../../host/controller/work/observe-work.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import { BlockWork } from "./block-work.ts";
import { PoolCollections } from "./collections.ts";
import { partsOf } from "./keys.ts";
import type { PartClock } from "./part-clock.ts";
import { poolMetrics } from "../metrics.ts";
import { setPoolMetrics } from "./pool-metrics.ts";
import { PoolWork } from "./pool-work.ts";
import { ReservationWork } from "./reservation-work.ts";

const part = "pools";
/** Maximum objects whose work runs at the same time. */
const workers = 8;
/** Interval in ms at which the first lists are awaited. */
const listingMs = 100;
/** Pause of an object while a collection is incomplete again, in ms. */
const incompleteMs = 10_000;

/** Makes the part. `partClock`: a test's clock; undefined: the controller's, which timers follow, so that a timer may be as long as the wait. */
export function poolsPart(partClock?: PartClock): MakePart {
  return (context: PartContext): ControllerPart => {
    const clock = partClock ?? { now: context.clock.now, maxPauseMs: Infinity };
    const queue: WorkQueue = new WorkQueue({
      clock: context.clock,
      workers,
      work: (key) => context.spans.work(part, key, () => workOn(key)),
      onWorked: observeWork(context, part),
    });
    const collections = new PoolCollections(context, (key, afterMs) => queue.add(key, afterMs));
    const pools = new PoolWork(context, collections, clock);
    const blocks = new BlockWork(context, collections, clock);
    const reservations = new ReservationWork(context, collections);
    const workOn = async (key: string): Promise<WorkOutcome> => {
      // A node that is not listed yet is not gone.
      if (!collections.complete) return { kind: "again", afterMs: incompleteMs };
      const { work, name } = partsOf(key);
      return { pool: pools, block: blocks, reservation: reservations }[work].workOn(name);
    };
    observeState(context, part, queue, () => collections.states);
    const metrics = context.metrics.with(poolMetrics);
    metrics.onScrape(() => setPoolMetrics(metrics, collections));
    return {
      name: part,
      run: async (signal) => {
        collections.start(signal);
        while (!collections.complete && !signal.aborted) await setTimeout(listingMs);
        return queue.run(signal);
      },
    };
  };
}
