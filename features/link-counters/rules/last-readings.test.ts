import { expect, test } from "vitest";
import type { Counters } from "../../../src/net/link-traffic.ts";
import { LastReadings } from "./last-readings.ts";
import type { Reading } from "./link-traffic.ts";

const of = (bytes: number): Counters => ({ packets: 0, bytes, errors: 0, drops: 0 });
const reading = (bytes: number, readAt: number, index = 7): Reading => ({ index, readAt, receive: of(bytes), transmit: of(0) });
const link = { key: "one net1", entry: "one", index: 7 };
const counted = (readings: LastReadings, now: Reading): number =>
  readings.take({ ...link, index: now.index }, now).increase.receive.bytes;

test("WA-06: a link that a round could not read is not counted twice", () => {
  const readings = new LastReadings();
  const counts = [counted(readings, reading(1000, 0))];
  // The next round does not reach the pod, whose entry is still there: a call changes it, or the answer is late.
  readings.keepOnly(new Set(["one"]));
  counts.push(counted(readings, reading(1500, 30_000)));
  expect(counts).toEqual([1000, 500]);
});

test("the link of another ADD counts from 0, and so does a link that was attached again", () => {
  const readings = new LastReadings();
  counted(readings, reading(1000, 0));
  expect(counted(readings, reading(600, 15_000, 8))).toBe(600);
  readings.keepOnly(new Set(["other"]));
  expect(counted(readings, reading(700, 30_000, 8))).toBe(700);
});

test("traffic before the daemon's start is not counted", () => {
  const readings = new LastReadings();
  readings.noteEarlier(link);
  expect([1000, 1200].map((bytes, round) => counted(readings, reading(bytes, round * 15_000)))).toEqual([0, 200]);
  expect(counted(readings, reading(300, 45_000, 9))).toBe(300);
});
