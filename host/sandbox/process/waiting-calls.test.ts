import { expect, test } from "vitest";
import { FairTurns, lastLane } from "./waiting-calls.ts";

test("the lane with the fewest running calls comes first", () => {
  const turns = new FairTurns();
  for (const name of ["a", "a", "b"]) turns.began(name);
  expect(turns.first(["a", "b"])).toBe("b");
  expect(turns.first(["a", "b", "c"])).toBe("c");
  turns.ended("a");
  turns.ended("a");
  expect(turns.first(["b", "a"])).toBe("a");
});

test("among equals the lane whose last call began first comes first, and a new lane before all", () => {
  const turns = new FairTurns();
  for (const name of ["a", "b"]) {
    turns.began(name);
    turns.ended(name);
  }
  expect([turns.first(["b", "a"]), turns.first(["b", "a", "new"]), turns.first([])]).toEqual(["a", "new", undefined]);
});

test("X-2: calls whose answers no pod needs come after all others, however many of these run", () => {
  const turns = new FairTurns();
  for (let count = 0; count < 4; count++) turns.began("shop");
  for (const names of [
    [lastLane, "shop"],
    ["shop", lastLane],
  ])
    expect(turns.first(names)).toBe("shop");
  expect(turns.first([lastLane])).toBe(lastLane);
});

test("one process serves two lanes in turn, however many calls of the first wait", () => {
  const turns = new FairTurns();
  const waiting = { hostile: 5, shop: 2 };
  const order: string[] = [];
  for (let count = 0; count < 7; count++) {
    const name = turns.first(Object.entries(waiting).flatMap(([lane, calls]) => (calls > 0 ? [lane] : []))) ?? "";
    turns.began(name);
    turns.ended(name);
    waiting[name as keyof typeof waiting] -= 1;
    order.push(name);
  }
  expect(order).toEqual(["hostile", "shop", "hostile", "shop", "hostile", "hostile", "hostile"]);
});

test("does not remember all lanes that ever were", () => {
  const turns = new FairTurns();
  turns.began("busy");
  for (let count = 0; count < 5000; count++) {
    turns.began(`lane-${count}`);
    turns.ended(`lane-${count}`);
  }
  // Forgotten lanes count as new; a lane with running calls is never forgotten.
  expect([turns.first(["lane-4999", "lane-1"]), turns.first(["busy", "lane-4999"])]).toEqual(["lane-1", "lane-4999"]);
});
