import { expect, test } from "vitest";
import { CallQueue } from "./call-queue.ts";

const stays = (): void => {};

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, passed: promise };
}

test("MO-29 serves up to its bound at once, lets up to its bound wait in order, and refuses further calls at once", async () => {
  const queue = new CallQueue({ active: 2, waiting: 2 });
  const gates = [gate(), gate(), gate(), gate()];
  const begun: number[] = [];
  const calls = gates.map(({ passed }, index) =>
    queue.enter(async () => {
      begun.push(index);
      await passed;
      return index;
    }, stays),
  );
  expect(calls.every((call) => call !== undefined)).toBe(true);
  expect(queue.enter(async () => 4, stays)).toBeUndefined();
  expect([queue.active, queue.waiting, begun]).toEqual([2, 2, [0, 1]]);
  gates[1]?.open();
  expect(await calls[1]).toBe(1);
  await Promise.resolve();
  expect([queue.active, queue.waiting, begun]).toEqual([2, 1, [0, 1, 2]]);
  for (const { open } of gates) open();
  expect(await Promise.all(calls)).toEqual([0, 1, 2, 3]);
  expect([queue.active, queue.waiting]).toEqual([0, 0]);
});

test("serves the next call after a failed call", async () => {
  const queue = new CallQueue({ active: 1, waiting: 1 });
  const failing = queue.enter(async () => {
    throw new Error("broken");
  }, stays);
  const next = queue.enter(async () => "served", stays);
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("served");
});

test("a call that leaves the queue is never served, and its place is free", async () => {
  const queue = new CallQueue({ active: 1, waiting: 1 });
  const { open, passed } = gate();
  const first = queue.enter(() => passed, stays);
  let leave = stays;
  const left = queue.enter(
    async () => "served",
    (now) => (leave = now),
  );
  expect(queue.enter(async () => "refused", stays)).toBeUndefined();
  leave();
  expect([await left, queue.waiting]).toEqual([undefined, 0]);
  const next = queue.enter(async () => "next", stays);
  open();
  await first;
  leave();
  expect([await next, queue.active]).toEqual(["next", 0]);
});
