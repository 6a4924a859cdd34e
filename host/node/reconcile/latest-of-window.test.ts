import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LatestOfWindow } from "./latest-of-window.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the first value is handled at once, and of the others in the window only the last", () => {
  const handled: string[] = [];
  const latest = new LatestOfWindow<string>(40, (value) => handled.push(value) > 0);
  for (const value of ["a1", "a2", "a3"]) latest.add("a", value);
  latest.add("b", "b1");
  expect(handled).toEqual(["a1", "b1"]);
  vi.advanceTimersByTime(39);
  expect(handled).toEqual(["a1", "b1"]);
  vi.advanceTimersByTime(1);
  expect(handled).toEqual(["a1", "b1", "a3"]);
  latest.end();
});

test("a value after a quiet window is handled at once, and the end handles what waits", () => {
  const handled: number[] = [];
  const latest = new LatestOfWindow<number>(20, (value) => handled.push(value) > 0);
  latest.add("a", 1);
  vi.advanceTimersByTime(20);
  latest.add("a", 2);
  expect(handled).toEqual([1, 2]);
  latest.add("a", 3);
  latest.end();
  expect(handled).toEqual([1, 2, 3]);
});

test("a value without an effect begins no window", () => {
  const handled: string[] = [];
  const latest = new LatestOfWindow<string>(40, (value) => handled.push(value) > 0 && value !== "same");
  for (const value of ["same", "same", "other", "same"]) latest.add("a", value);
  expect(handled).toEqual(["same", "same", "other"]);
  vi.advanceTimersByTime(40);
  latest.add("a", "next");
  expect(handled).toEqual(["same", "same", "other", "same", "next"]);
  latest.end();
});
