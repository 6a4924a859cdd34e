// The part for pools of addresses: accepts pools, frees blocks of nodes that are gone, and reservations whose owners are gone.

import type { MakePart } from "../../../host/controller/part.ts";
import { watchingPart } from "../../../host/controller/work/watching-part.ts";
import { BlockWork } from "./block-work.ts";
import { PoolCollections } from "./collections.ts";
import { partsOf } from "./keys.ts";
import type { PartClock } from "./part-clock.ts";
import { poolMetrics } from "../metrics.ts";
import { setPoolMetrics } from "./pool-metrics.ts";
import { PoolWork } from "./pool-work.ts";
import { ReservationWork } from "./reservation-work.ts";

/** Maximum objects whose work runs at the same time. */
const workers = 8;

/** Makes the part. `partClock`: a test's clock; undefined: the controller's, which timers follow, so that a timer may be as long as the wait. */
export function poolsPart(partClock?: PartClock): MakePart {
  return watchingPart({
    name: "pools",
    workers,
    collections: (context, onDue) => new PoolCollections(context, onDue),
    work: (context, collections) => {
      const clock = partClock ?? { now: context.clock.now, maxPauseMs: Infinity };
      const metrics = context.metrics.with(poolMetrics);
      metrics.onScrape(() => setPoolMetrics(metrics, collections));
      const works = {
        pool: new PoolWork(context, collections, clock),
        block: new BlockWork(context, collections, clock),
        reservation: new ReservationWork(context, collections),
      };
      return (key) => {
        const { work, name } = partsOf(key);
        return works[work].workOn(name);
      };
    },
  });
}
