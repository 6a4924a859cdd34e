// Many small pieces of work, among which a runtime's calls get their turn.

import { setImmediate } from "node:timers/promises";

/** Pieces of a few hundred microseconds that are done before others have their turn. */
const atOnce = 8;

/** The values, with a turn of the event loop after every few of them. */
export async function* inTurns<T>(values: Iterable<T>): AsyncGenerator<T, void, undefined> {
  let count = 0;
  for (const value of values) {
    yield value;
    count += 1;
    if (count % atOnce === 0) await setImmediate();
  }
}
