// The part for Services: writes the EndpointSlices of Services on further networks.

import { setTimeout } from "node:timers/promises";
import type { ControllerPart, MakePart, PartContext } from "../../../host/controller/part.ts";
import { observeState, observeWork } from "../../../host/controller/work/observe-work.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import { ServiceCollections } from "./collections.ts";
import { workOnService } from "./slice-work.ts";

const part = "services";
/** Maximum Services whose slices are written at the same time. */
const workers = 8;
/** Interval in ms at which the first lists are awaited. */
const listingMs = 100;

/** Makes the part. */
export function servicesPart(): MakePart {
  return (context: PartContext): ControllerPart => {
    const queue: WorkQueue = new WorkQueue({
      workers,
      work: (key) => context.spans.work(part, key, (): Promise<WorkOutcome> => workOnService(context, collections, key)),
      onWorked: observeWork(context, part),
    });
    const collections = new ServiceCollections(context, (key, afterMs) => queue.add(key, afterMs));
    observeState(context, part, queue, () => collections.states);
    return {
      name: part,
      run: async (signal) => {
        collections.start(signal);
        while (!collections.listed && !signal.aborted) await setTimeout(listingMs);
        return queue.run(signal);
      },
    };
  };
}
