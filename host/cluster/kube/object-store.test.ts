import { expect, test } from "vitest";
import { ObjectStore, type StoredObject } from "./object-store.ts";

const object = (name: string, size: number): StoredObject<string> => ({
  namespace: "shop",
  name,
  value: `${name}-${size}`,
  size,
});

test("an object that is too large is not stored, and its previous version is removed", () => {
  const store = new ObjectStore<string>({ maxObject: 100, maxTotal: 1_000 });
  store.put(object("a", 100));
  store.put(object("b", 101));
  expect([store.get("shop", "a"), store.get("shop", "b"), store.count, store.refused]).toEqual(["a-100", undefined, 1, 1]);
  store.put(object("a", 101));
  expect([store.get("shop", "a"), store.count]).toEqual([undefined, 0]);
});

test("the total limit counts present objects only: a removed or smaller object makes room", () => {
  const store = new ObjectStore<string>({ maxObject: 1_000, maxTotal: 1_000 });
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

test("a dot in a name is not confused with a dot in a namespace", () => {
  const store = new ObjectStore<string>({ maxObject: 100, maxTotal: 1_000 });
  store.put({ namespace: "a", name: "b.c", value: "one", size: 1 });
  expect([store.get("a.b", "c"), store.get("a", "b.c")]).toEqual([undefined, "one"]);
});
