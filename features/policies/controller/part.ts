// The part for policies: writes the addresses that policies ask for as NetworkAddressSlices.

import { setTimeout } from "node:timers/promises";
import type { ControllerPart, MakePart, PartContext } from "../../../host/controller/part.ts";
import { observeState, observeWork } from "../../../host/controller/work/observe-work.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import { PolicyCollections } from "./collections.ts";
import { workOnSlices } from "./slice-work.ts";

const part = "policies";
/** Maximum queries whose slices are written at the same time. */
const workers = 8;
/** Interval in ms at which the first lists are awaited. */
const listingMs = 100;

/** Makes the part. */
export function policiesPart(): MakePart {
  return (context: PartContext): ControllerPart => {
    const queue: WorkQueue = new WorkQueue({
      workers,
      work: (key) => context.spans.work(part, key, (): Promise<WorkOutcome> => workOnSlices(context, collections, key)),
      onWorked: observeWork(context, part),
    });
    const collections = new PolicyCollections(context, (key, afterMs) => queue.add(key, afterMs));
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
