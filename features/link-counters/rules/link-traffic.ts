// Rates and increases of links' counters, from two readings.

import type { BothDirections, counted, Counters, directions } from "../../../src/net/link-traffic.ts";

/** A reading of one link. */
export interface Reading extends BothDirections {
  /** Index of the link: another index is another link, which begins at 0. */
  readonly index: number;
  /** Milliseconds of a clock that never goes back. */
  readonly readAt: number;
}

const zero: Counters = { packets: 0, bytes: 0, errors: 0, drops: 0 };

/** The increases since the reading before. A link that is new, or whose counters went back, counts from 0. */
export function increase(before: Reading | undefined, now: Reading): BothDirections {
  const isSame =
    before?.index === now.index && now.receive.bytes >= before.receive.bytes && now.transmit.bytes >= before.transmit.bytes;
  const of = (direction: (typeof directions)[number]): Counters =>
    mapped((each) => Math.max(0, now[direction][each] - (isSame ? before[direction][each] : 0)));
  return { receive: of("receive"), transmit: of("transmit") };
}

/** The increases per second; zero without an earlier reading of the same link. */
export function rates(before: Reading | undefined, now: Reading): BothDirections {
  const seconds = before?.index === now.index ? (now.readAt - before.readAt) / 1000 : 0;
  if (seconds <= 0) return { receive: zero, transmit: zero };
  const { receive, transmit } = increase(before, now);
  const of = (counters: Counters): Counters => mapped((each) => Math.round((counters[each] / seconds) * 10) / 10);
  return { receive: of(receive), transmit: of(transmit) };
}

function mapped(value: (each: (typeof counted)[number]) => number): Counters {
  return { packets: value("packets"), bytes: value("bytes"), errors: value("errors"), drops: value("drops") };
}
