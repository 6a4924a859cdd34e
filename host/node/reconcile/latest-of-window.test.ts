import { expect, test, vi } from "vitest";
import { LatestOfWindow } from "./latest-of-window.ts";

test("the first value is handled at once, and of the others in the window only the last", async () => {
  const handled: string[] = [];
  const latest = new LatestOfWindow<string>(40, (value) => handled.push(value));
  for (const value of ["a1", "a2", "a3"]) latest.add("a", value);
  latest.add("b", "b1");
  expect(handled).toEqual(["a1", "b1"]);
  await vi.waitFor(() => expect(handled).toEqual(["a1", "b1", "a3"]), { timeout: 10_000, interval: 5 });
  latest.end();
});

test("a value after a quiet window is handled at once, and the end handles what waits", async () => {
  const handled: number[] = [];
  const latest = new LatestOfWindow<number>(20, (value) => handled.push(value));
  latest.add("a", 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  latest.add("a", 2);
  expect(handled).toEqual([1, 2]);
  latest.add("a", 3);
  latest.end();
  expect(handled).toEqual([1, 2, 3]);
});
