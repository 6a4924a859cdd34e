import { expect, test } from "vitest";
import { type SliceChange, sliceChanges, type StoredSlice, storedSlice } from "./slice.ts";

const node = { node: "n1", uid: "u" };
const devices = (count: number): readonly object[] => Array.from({ length: count }, (_, index) => ({ name: `d${index}` }));
const stored = (name: string, generation: number, checksum: string, owner = "u"): StoredSlice => ({
  name,
  resourceVersion: "7",
  generation,
  checksum,
  owner,
  taintTimes: new Map(),
});
const twice = (pool: object): readonly object[] => [pool, pool];
const slice = (driver: string, nodeName: string): unknown => ({
  metadata: { name: "s", resourceVersion: "1" },
  spec: { driver, nodeName, pool: { generation: 2 } },
});
const pools = (changes: readonly SliceChange[]): readonly unknown[] =>
  changes.map((each) => ("object" in each ? (each.object["spec"] as { readonly pool: unknown }).pool : each.kind));

test("DR-02: devices become slices of 64 with one generation", () => {
  const changes = sliceChanges(node, devices(65), "c", []);
  expect(changes.map(({ kind }) => kind)).toEqual(["create", "create"]);
  expect(pools(changes)).toEqual(twice({ name: "n1", generation: 1, resourceSliceCount: 2 }));
});

test("DR-02: slices with the devices' checksum stay, and a change rewrites all of them with the next generation", () => {
  expect(sliceChanges(node, devices(1), "c", [stored("n1-plexus-0", 4, "c")])).toEqual([]);
  const changed = sliceChanges(node, devices(1), "d", [stored("n1-plexus-0", 4, "c"), stored("n1-plexus-1", 4, "c")]);
  expect(pools(changed)).toEqual([{ name: "n1", generation: 5, resourceSliceCount: 1 }, "remove"]);
  expect(changed[0]).toMatchObject({ kind: "replace", object: { metadata: { resourceVersion: "7" } } });
});

test("slices that an interrupted write left with two generations are written anew", () => {
  const mixed = [stored("n1-plexus-0", 5, "c"), stored("n1-plexus-1", 4, "c")];
  expect(pools(sliceChanges(node, devices(65), "c", mixed))).toEqual(twice({ name: "n1", generation: 6, resourceSliceCount: 2 }));
});

test("slices of a Node that was made anew get the new Node as their owner", () => {
  const changes = sliceChanges(node, devices(1), "c", [stored("n1-plexus-0", 4, "c", "former")]);
  expect(changes).toMatchObject([{ kind: "replace", object: { metadata: { ownerReferences: [{ uid: "u" }] } } }]);
});

test("a slice of another driver or node is not this node's", () => {
  expect(storedSlice(slice("plexus.dev", "n1"), "n1")).toEqual({
    name: "s",
    resourceVersion: "1",
    generation: 2,
    checksum: "",
    owner: "",
    taintTimes: new Map(),
  });
  expect(storedSlice(slice("other.example", "n1"), "n1")).toBeUndefined();
  expect(storedSlice(slice("plexus.dev", "n2"), "n1")).toBeUndefined();
});
