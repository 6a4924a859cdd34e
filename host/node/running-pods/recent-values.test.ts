import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { RecentValues } from "./recent-values.ts";

test("a value is made once for the same key and the same objects, and again for other ones", () => {
  let made = 0;
  const values = new RecentValues<number>(4, 100, () => 1);
  const make = (): number => (made += 1);
  const [one, other] = [{}, {}];
  expect([values.of("a", [one], make), values.of("a", [one], make)]).toEqual([1, 1]);
  expect([values.of("b", [one], make), values.of("a", [other], make), values.of("a", [one, other], make)]).toEqual([2, 3, 4]);
  expect(values.of("a", [one], make)).toBe(1);
});

test("the values that were asked longest ago go beyond the number and beyond the size; the newest stays", () => {
  let made = 0;
  const values = new RecentValues<number>(2, 10, (value) => value);
  const of = (key: string, size: number): number =>
    values.of(key, [], () => {
      made += 1;
      return size;
    });
  for (const [key, size] of [
    ["a", 1],
    ["b", 2],
    ["a", 1],
    ["c", 3],
  ] as const)
    of(key, size);
  expect(made).toBe(3);
  of("a", 1);
  expect(made).toBe(3);
  of("b", 2);
  expect(made).toBe(4);
  of("large", 50);
  of("large", 50);
  expect(made).toBe(5);
  of("b", 2);
  expect(made).toBe(6);
});

test("a value whose objects are collected goes, although nobody asks for another value", async () => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new TypeError("no garbage collection");
  const values = new RecentValues<object>(4, 100, () => 1);
  const held = {};
  const kept = new WeakRef(values.of("a", [held], () => ({ of: "held" })));
  const stale = ((): WeakRef<object> => new WeakRef(values.of("b", [held, {}], () => ({ of: "a collected object" }))))();
  await vi.waitFor(
    () => {
      collect();
      // A failed assertion would hold the value itself.
      expect(stale.deref() === undefined).toBe(true);
    },
    { timeout: 60_000, interval: 10 },
  );
  expect(values.of("a", [held], () => ({ of: "another" }))).toBe(kept.deref());
});
