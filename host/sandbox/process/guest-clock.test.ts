import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GuestClock } from "./guest-clock.ts";

let told: string[];
/** CPU time of the guest's process, in ms; undefined: the system doesn't say. */
let ran: number | undefined;

beforeEach(() => {
  told = [];
  ran = undefined;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

function clockOf(guestMs: number, deadlineMs = 1_000_000): GuestClock {
  const began = performance.now();
  const expire = (which: string): void => void told.push(`${which} at ${performance.now() - began}`);
  return new GuestClock({ guestMs, deadlineMs, ranMs: () => ran, expire });
}

test("a guest's stretches add up, and what the host takes between them doesn't count", () => {
  const clock = clockOf(100);
  clock.start();
  vi.advanceTimersByTime(60);
  clock.pause();
  vi.advanceTimersByTime(5000);
  clock.start();
  vi.advanceTimersByTime(39);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(["time at 5100"]);
});

test("a guest that only waits is never out of time, but comes to the call's deadline", () => {
  const clock = clockOf(100, 700);
  for (let stretch = 0; stretch < 10; stretch++) {
    clock.start();
    vi.advanceTimersByTime(5);
    clock.pause();
    vi.advanceTimersByTime(100);
  }
  expect(told).toEqual(["deadline at 700"]);
});

test("a process that had no CPU gets the time that it lacks, ten times its own at most", () => {
  ran = 3;
  const lazy = clockOf(100);
  lazy.start();
  vi.advanceTimersByTime(100);
  // It ran for 60 ms of the next 100, and then for the 40 that it lacks.
  ran = 63;
  vi.advanceTimersByTime(100);
  expect(told).toEqual([]);
  ran = 103;
  vi.advanceTimersByTime(40);
  expect(told).toEqual(["time at 240"]);
  told = [];
  clockOf(100).start();
  vi.advanceTimersByTime(999);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(["time at 1000"]);
});

test("nothing is told of a call that has ended", () => {
  const clock = clockOf(100, 300);
  clock.start();
  clock.stop();
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual([]);
});
