import { expect, test } from "vitest";
import { ObjectStore, type StoredObject } from "./object-store.ts";

const object = (name: string, size: number): StoredObject<string> => ({
  namespace: "shop",
  name,
  value: `${name}-${size}`,
  size,
});

test("holds what fits, and of what doesn't nothing, the earlier one neither", () => {
  const store = new ObjectStore<string>({ largest: 100, most: 1_000 });
  store.put(object("a", 100));
  store.put(object("b", 101));
  expect([store.get("shop", "a"), store.get("shop", "b"), store.count, store.refused]).toEqual(["a-100", undefined, 1, 1]);
  store.put(object("a", 101));
  expect([store.get("shop", "a"), store.count]).toEqual([undefined, 0]);
});

test("the bound of all counts what is held now: what goes or shrinks makes room", () => {
  const store = new ObjectStore<string>({ largest: 1_000, most: 1_000 });
  for (const name of ["a", "b", "c", "d"]) store.put(object(name, 50));
  store.put(object("e", 50));
  expect([store.count, store.get("shop", "e")]).toEqual([4, undefined]);
  store.remove("shop", "a");
  store.remove("shop", "a");
  store.put(object("e", 50));
  expect([store.count, store.get("shop", "e")]).toEqual([4, "e-50"]);
  for (let turn = 0; turn < 100; turn++) store.put(object("e", turn % 50));
  expect([store.count, store.get("shop", "e")]).toEqual([4, "e-49"]);
});

test("a namespace and a name are two things", () => {
  const store = new ObjectStore<string>({ largest: 100, most: 1_000 });
  store.put({ namespace: "a", name: "b.c", value: "one", size: 1 });
  expect([store.get("a.b", "c"), store.get("a", "b.c")]).toEqual([undefined, "one"]);
});
