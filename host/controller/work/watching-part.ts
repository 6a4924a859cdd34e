// A part of plexus-controller that watches collections and works on the keys that their changes make due.

import { type WorkOutcome, WorkQueue } from "../../cluster/work/work-queue.ts";
import type { CollectionGroup } from "../collection-group.ts";
import type { ControllerPart, MakePart, PartContext } from "../part.ts";
import { observeState, observeWork } from "./observe-work.ts";

/** The collections of one part. */
export interface PartCollections {
  readonly watched: CollectionGroup;
}

/** Settings of a part. */
export interface WatchingPart<C extends PartCollections> {
  readonly name: string;
  /** Maximum keys that are worked on at the same time. */
  readonly workers: number;
  /** Makes the collections. `onDue` receives each key whose objects may have to change, with a pause in ms. */
  readonly collections: (context: PartContext, onDue: (key: string, afterMs: number) => void) => C;
  /** Makes the work on one key, for one term as the leader. */
  readonly work: (context: PartContext, collections: C) => (key: string) => Promise<WorkOutcome>;
  /** A key that is due from the start. */
  readonly firstKey?: string;
}

/** Pause of a key while a collection is incomplete again, because it has an object that is too large to be stored, in ms. */
export const incompleteMs = 10_000;

/** Makes the part. Keys stay in the queue until the collections are ready: earlier, missing objects would count as removed. */
export function watchingPart<C extends PartCollections>({ name, workers, firstKey, ...init }: WatchingPart<C>): MakePart {
  return (context: PartContext): ControllerPart => {
    const workOn = async (key: string): Promise<WorkOutcome> =>
      collections.watched.isReady ? work(key) : { kind: "again", afterMs: incompleteMs };
    const queue = new WorkQueue(
      (key) => context.spans.work(name, key, () => workOn(key)),
      context.clock,
      workers,
      observeWork(context, name),
    );
    const collections = init.collections(context, (key, afterMs) => queue.add(key, afterMs));
    const work = init.work(context, collections);
    observeState(context, name, queue, () => collections.watched.states);
    return {
      name,
      run: async (signal) => {
        if (firstKey !== undefined) queue.add(firstKey);
        await collections.watched.begin(signal);
        return queue.run(signal);
      },
    };
  };
}
