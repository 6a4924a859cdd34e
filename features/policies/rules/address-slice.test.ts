// The distribution of endpoints on slices, and addresses in the status of pods.

import { expect, test } from "vitest";
import { contentSize, distribute, maxAddresses, readSlice, sliceObject, type SliceEndpoint } from "./address-slice.ts";

const endpoint = (index: number): SliceEndpoint => ({ addresses: [`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`] });
const endpoints = (count: number): readonly SliceEndpoint[] => Array.from({ length: count }, (_, index) => endpoint(index));
const sizes = (slices: readonly (readonly unknown[])[]): readonly number[] => slices.map(({ length }) => length);

test("a slice has at most 1,000 addresses, and a change of one pod changes one slice", () => {
  const first = distribute([], endpoints(2500));
  expect(sizes(first)).toEqual([1000, 1000, 500]);
  const without = distribute(first, endpoints(2500).toSpliced(5, 1));
  expect(sizes(without)).toEqual([999, 1000, 500]);
  const other = distribute(without, [...endpoints(2500).toSpliced(5, 1), endpoint(9999)]);
  expect(sizes(other)).toEqual([1000, 1000, 500]);
  expect(other.slice(1)).toEqual(without.slice(1));
  expect(sizes(distribute(first, endpoints(10)))).toEqual([10, 0, 0]);
  expect(distribute(first, endpoints(2500).toReversed())).toEqual(first);
  expect(maxAddresses).toBe(1000);
});

test("PO-24: endpoints with many named ports need more slices: the API's store and a node's memory take each of them", () => {
  const ports = Array.from({ length: 128 }, (_, index) => ({
    name: `media-port-${index}`,
    protocol: "SCTP",
    port: 30_000 + index,
  }));
  const many = endpoints(300).map((each) => ({ namespace: "a", ...each, ports }));
  const distributed = distribute([], many);
  expect([distributed.length, distributed.flat().length]).toEqual([6, 300]);
  for (const slice of distributed) {
    expect(contentSize({ id: "", query: "", endpoints: slice })).toBeLessThan(512 * 1024);
    expect(JSON.stringify(slice).length).toBeLessThan(1024 * 1024);
  }
  // The endpoints stay where they are.
  expect(distribute(distributed, many)).toEqual(distributed);
});

test("equal endpoints of two pods are one", () => {
  expect(distribute([], [endpoint(1), endpoint(1)])).toEqual([[endpoint(1)]]);
});

const query = { network: "a/red", namespaces: { name: "a" }, pods: [], portNames: [] } as const;

test("a slice that was written is read, and hostile ones are problems", () => {
  const object = sliceObject("a", "f".repeat(32), "peers-x-0", query, [
    { addresses: ["10.0.0.1"], ports: [{ name: "sql", protocol: "TCP", port: 1 }] },
  ]);
  const stored = (change: object): unknown => {
    const { metadata, spec } = object as { metadata: object; spec: object };
    return { metadata: { ...metadata, uid: "u", resourceVersion: "1" }, spec: { ...spec, ...change } };
  };
  expect(readSlice(stored({}))).toMatchObject({
    ok: true,
    value: { id: "f".repeat(32), endpoints: [{ addresses: ["10.0.0.1"], ports: [{ port: 1 }] }] },
  });
  for (const wrong of [
    null,
    Array.from({ length: 1001 }, () => ({})),
    [{}],
    [{ addresses: ["x"] }],
    [{ addresses: Array.from({ length: 101 }, () => "10.0.0.1") }],
  ]) {
    expect(readSlice(stored({ endpoints: wrong }))).toMatchObject({ ok: false });
  }
});
