import { expect, test } from "vitest";
import { increase, rates, type Reading } from "./link-traffic.ts";

const counters = (bytes: number) => ({ packets: bytes / 100, bytes, errors: 0, drops: bytes / 1000 });
const reading = (index: number, readAt: number, received: number, sent = received): Reading => ({
  index,
  readAt,
  receive: counters(received),
  transmit: counters(sent),
});

test("WA-06: rates are increases per second between two readings of one link", () => {
  const [before, now] = [reading(3, 1000, 1000), reading(3, 3000, 5000, 1000)];
  expect(increase(before, now)).toEqual({ receive: counters(4000), transmit: counters(0) });
  expect(rates(before, now)).toEqual({ receive: counters(2000), transmit: counters(0) });
});

test("WA-06: another link under the name, and counters that went back, count from 0, so that a sum never decreases", () => {
  expect(increase(reading(3, 0, 9000), reading(4, 1000, 1000))).toEqual({ receive: counters(1000), transmit: counters(1000) });
  expect(increase(reading(3, 0, 9000), reading(3, 1000, 1000)).receive).toEqual(counters(1000));
  expect(rates(undefined, reading(3, 1000, 1000)).receive.bytes).toBe(0);
  expect(rates(reading(3, 0, 9000), reading(4, 1000, 1000)).receive.bytes).toBe(0);
});
