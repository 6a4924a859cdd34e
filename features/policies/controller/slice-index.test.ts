import { expect, test } from "vitest";
import { type AddressSlice, distribute, type SliceEndpoint } from "../rules/address-slice.ts";
import { queryText } from "../rules/peers.ts";
import { SliceIndex } from "./slice-index.ts";
import { workOnSlices } from "./slice-work.ts";

const query = { network: "a/red", namespaces: { name: "a" }, pods: [], portNames: [] } as const;
const idOf = (number: number): string => number.toString(16).padStart(32, "0");

/** Reads of slices' members in the work on each of `count` queries, each with one slice. */
async function readsOf(count: number): Promise<number> {
  let reads = 0;
  const index = new SliceIndex();
  for (let number = 0; number < count; number++) {
    const id = idOf(number);
    const metadata = {
      name: `peers-${id}-0`,
      uid: "u",
      resourceVersion: "1",
      generation: 1,
      annotations: new Map(),
      labels: new Map(),
    };
    const slice = { namespace: "a", metadata, id, query: queryText(query), endpoints: [] } as unknown as AddressSlice;
    const counted = new Proxy(slice, {
      get: (target, member) => {
        reads += 1;
        return Reflect.get(target, member);
      },
    });
    index.put("a", metadata.name, counted);
  }
  const collections = { asked: () => query, peers: () => [], slicesOf: (key: string) => index.slicesOf(key) };
  reads = 0;
  for (let number = 0; number < count; number++) {
    const worked = await workOnSlices({} as never, collections, `a ${idOf(number)}`);
    expect(worked).toEqual({ kind: "done" });
  }
  return reads;
}

test("PO-24: the work on all queries reads each query's slices only: 1,000 slices cost 100 times as much as 10", async () => {
  expect(await readsOf(1000)).toBe(100 * (await readsOf(10)));
});

const sliceOf = (id: string, name: string): AddressSlice =>
  ({ id, metadata: { name }, namespace: "a" }) as unknown as AddressSlice;

test("PO-24: the index follows a slice that changes its query, cannot be read any more, or goes", () => {
  const index = new SliceIndex();
  const [one, two] = [idOf(1), idOf(2)];
  expect([...index.put("a", `peers-${one}-1`, sliceOf(one, `peers-${one}-1`))]).toEqual([`a ${one}`]);
  index.put("a", `peers-${one}-0`, sliceOf(one, `peers-${one}-0`));
  expect(index.slicesOf(`a ${one}`).map(({ metadata }) => metadata.name)).toEqual([`peers-${one}-0`, `peers-${one}-1`]);
  expect([...index.put("a", `peers-${one}-1`, sliceOf(two, `peers-${one}-1`))]).toEqual([`a ${one}`, `a ${two}`]);
  expect([...index.put("a", `peers-${one}-0`, undefined)]).toEqual([`a ${one}`]);
  expect([index.slicesOf(`a ${one}`), index.slicesOf(`a ${two}`).length, [...index.put("a", "other", undefined)]]).toEqual([
    [],
    1,
    [],
  ]);
});

const full = (number: number): readonly SliceEndpoint[] =>
  Array.from({ length: 10 }, (_, index) => ({
    addresses: Array.from({ length: 95 }, (__, last) => `10.${number}.${index}.${last}`),
  }));

/** Looks at sizes of slices while `count` full slices get no endpoint and as many new slices are made. */
test("PO-24: endpoints of any number of addresses find their slices without a look at each full slice", () => {
  let looks = 0;
  const before = Array.from({ length: 40 }, (_, number) => full(number));
  const more = Array.from({ length: 400 }, (_, number) => ({
    addresses: Array.from({ length: 95 }, (__, last) => `fd00:${number}::${last}`),
  }));
  const slices = distribute(before, [...before.flat(), ...more], () => (looks += 1));
  expect(slices.map((slice) => slice.length)).toEqual(Array.from({ length: 80 }, () => 10));
  expect(looks).toBeLessThanOrEqual(400 + 80);
});
