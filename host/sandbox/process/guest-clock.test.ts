import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GuestClock } from "./guest-clock.ts";

let expired: string[];
/** CPU time of the guest's process in ms; undefined: the system does not report it. */
let cpuMs: number | undefined;

beforeEach(() => {
  expired = [];
  cpuMs = undefined;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

function clockOf(guestMs: number, deadlineMs = 1_000_000): GuestClock {
  const began = performance.now();
  const expire = (which: string): void => void expired.push(`${which} at ${performance.now() - began}`);
  return new GuestClock(guestMs, deadlineMs, () => cpuMs, expire);
}

test("a guest's time is summed over its runs, without the host's time between them", () => {
  const clock = clockOf(100);
  clock.start();
  vi.advanceTimersByTime(60);
  clock.pause();
  vi.advanceTimersByTime(5000);
  clock.start();
  vi.advanceTimersByTime(39);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["time at 5100"]);
});

test("a guest that mostly waits keeps its time limit and reaches the call's deadline", () => {
  const clock = clockOf(100, 700);
  for (let stretch = 0; stretch < 10; stretch++) {
    clock.start();
    vi.advanceTimersByTime(5);
    clock.pause();
    vi.advanceTimersByTime(100);
  }
  expect(expired).toEqual(["deadline at 700"]);
});

test("a process without a CPU gets its missing time, at most ten times its limit", () => {
  cpuMs = 3;
  const slow = clockOf(100);
  slow.start();
  vi.advanceTimersByTime(100);
  // The process runs for 60 ms of the next 100, and then for the missing 40.
  cpuMs = 63;
  vi.advanceTimersByTime(100);
  expect(expired).toEqual([]);
  cpuMs = 103;
  vi.advanceTimersByTime(40);
  expect(expired).toEqual(["time at 240"]);
  expired = [];
  clockOf(100).start();
  vi.advanceTimersByTime(999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["time at 1000"]);
});

test("no limit expires after the clock was stopped", () => {
  const clock = clockOf(100, 300);
  clock.start();
  clock.stop();
  vi.advanceTimersByTime(10_000);
  expect(expired).toEqual([]);
});
