// Splits long work, so that the daemon serves a runtime's calls meanwhile.

import { setImmediate } from "node:timers/promises";

/** Values between two turns of the event loop. Each takes a few hundred microseconds. */
const batch = 8;

/** Yields the values, with a turn of the event loop after each batch. */
export async function* inTurns<T>(values: Iterable<T>): AsyncGenerator<T, void, undefined> {
  let count = 0;
  for (const value of values) {
    yield value;
    count += 1;
    if (count % batch === 0) await setImmediate();
  }
}
