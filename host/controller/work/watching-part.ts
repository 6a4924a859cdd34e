// A part of plexus-controller that watches collections and works on the keys that their changes make due.

import { setTimeout } from "node:timers/promises";
import { type WorkOutcome, WorkQueue } from "../../cluster/work/work-queue.ts";
import type { ReflectorState } from "../../cluster/kube/reflector.ts";
import type { ControllerPart, MakePart, PartContext } from "../part.ts";
import { observeState, observeWork } from "./observe-work.ts";

/** The collections of one part. */
export interface PartCollections {
  readonly states: readonly ReflectorState[];
  /** Whether each collection was listed. Earlier, missing objects would count as removed. */
  readonly listed: boolean;
  start(signal: AbortSignal): void;
}

/** Settings of a part. */
export interface WatchingPartInit<C extends PartCollections> {
  readonly name: string;
  /** Maximum keys that are worked on at the same time. */
  readonly workers: number;
  /** Makes the collections. `onDue` receives each key whose objects may have to change, with a pause in ms. */
  readonly collections: (context: PartContext, onDue: (key: string, afterMs: number) => void) => C;
  readonly work: (context: PartContext, collections: C, key: string) => Promise<WorkOutcome>;
}

/** Interval in ms at which the first lists are awaited. */
const listingMs = 100;

/** Makes the part. The work begins when each collection was listed. */
export function watchingPart<C extends PartCollections>(init: WatchingPartInit<C>): MakePart {
  const { name, workers } = init;
  return (context: PartContext): ControllerPart => {
    const queue: WorkQueue = new WorkQueue({
      clock: context.clock,
      workers,
      work: (key) => context.spans.work(name, key, (): Promise<WorkOutcome> => init.work(context, collections, key)),
      onWorked: observeWork(context, name),
    });
    const collections = init.collections(context, (key, afterMs) => queue.add(key, afterMs));
    observeState(context, name, queue, () => collections.states);
    return {
      name,
      run: async (signal) => {
        collections.start(signal);
        while (!collections.listed && !signal.aborted) await setTimeout(listingMs);
        return queue.run(signal);
      },
    };
  };
}
