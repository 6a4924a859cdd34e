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

/** A store with objects of one size, so that four of them fill it. */
function sharedStore() {
  const store = new ObjectStore<string>({ maxObject: 1_000, maxTotal: 1_200 });
  const put = (namespace: string, name: string, size = 100): void =>
    store.put({ namespace, name, value: `${namespace}/${name}`, size });
  return { store, put };
}

test("a namespace that fills the store gives way to other namespaces, its oldest objects first", () => {
  const { store, put } = sharedStore();
  for (let count = 0; count < 1000; count++) put("hostile", `object-${count}`);
  expect(store.count).toBe(4);
  put("shop", "pods");
  put("bank", "pods");
  expect([store.get("shop", "pods"), store.get("bank", "pods"), store.count]).toEqual(["shop/pods", "bank/pods", 4]);
  expect([store.get("hostile", "object-0"), store.get("hostile", "object-3")]).toEqual([undefined, "hostile/object-3"]);
  expect(["hostile", "shop", "bank"].filter((namespace) => store.hasRefused(namespace))).toEqual(["hostile"]);
  // The hostile namespace is not smaller than others, so it replaces nothing of theirs.
  for (let count = 0; count < 1000; count++) put("hostile", `later-${count}`);
  expect([store.get("shop", "pods"), store.get("bank", "pods")]).toEqual(["shop/pods", "bank/pods"]);
});

test("one large object does not replace the objects of namespaces that are smaller", () => {
  const { store, put } = sharedStore();
  for (const namespace of ["a", "b", "c", "d"]) put(namespace, "pods");
  put("hostile", "large", 900);
  expect([store.count, store.get("hostile", "large"), store.refused]).toEqual([4, undefined, 1]);
});

test("the share of a namespace is not counted twice, and removed objects free it", () => {
  const { store, put } = sharedStore();
  for (let turn = 0; turn < 100; turn++) put("shop", "pods", turn);
  for (const name of ["a", "b", "c"]) put("bank", name);
  expect(store.count).toBe(4);
  for (const name of ["a", "b", "c"]) store.remove("bank", name);
  store.remove("shop", "pods");
  store.remove("nobody", "pods");
  for (const name of ["a", "b", "c", "d"]) put("hostile", name);
  expect([store.count, store.refused]).toEqual([4, 0]);
});
