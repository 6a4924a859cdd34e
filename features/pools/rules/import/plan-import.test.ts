import { describe, expect, test } from "vitest";
import { type AddressPool, readAddressPool } from "../address-pool.ts";
import type { PodAddress } from "../pod-addresses.ts";
import { blockAt } from "../pool-blocks.ts";
import { readAddress } from "../../../../src/net/ip.ts";
import { whereaboutsSubnets } from "./definition-ranges.ts";
import type { HeldAddress } from "./held-address.ts";
import { cidrsOf, type ImportInput, planImport } from "./plan-import.ts";

function address(text: string) {
  const read = readAddress(text);
  if (read === undefined) throw new Error(text);
  return read;
}

function poolOf(exclude: readonly string[]): AddressPool {
  const read = readAddressPool({
    metadata: { name: "storage", uid: "u", resourceVersion: "1" },
    spec: { ranges: [{ subnet: "10.50.0.0/16" }], exclude },
  });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

function record(text: string, pod: string, more: Partial<HeldAddress["owner"]> = {}): HeldAddress {
  const owner = { containerId: `c-${pod}`, ifname: "net1", podNamespace: "shop", podName: pod, ...more };
  return { address: address(text), owner, source: `IPPool kube-system/${pod}` };
}

function running(text: string, pod: string): PodAddress {
  return { address: address(text), namespace: "shop", pod, podUid: pod, node: "n1", ifname: "net1" };
}

function plan(more: Partial<ImportInput> = {}) {
  const exclude = more.exclude ?? ["10.50.0.0/16", "10.50.9.0/24"];
  return planImport({
    pool: poolOf(exclude),
    exclude,
    source: "whereabouts",
    imported: {},
    isOfAllNodes: true,
    records: [record("10.50.0.2", "a"), record("10.50.0.3", "b"), record("10.60.0.1", "elsewhere")],
    blocks: [],
    used: [running("10.50.0.2", "a"), running("10.50.0.3", "b")],
    ...more,
  });
}

describe("an import of addresses", () => {
  test("excludes exactly the pool's held addresses, in place of the whole subnet, and keeps the administrator's exclusions", () => {
    expect(plan()).toMatchObject({
      conflicts: [],
      stale: [],
      exclude: ["10.50.9.0/24", "10.50.0.2/31"],
      imported: { whereabouts: ["10.50.0.2/31"] },
    });
  });

  test("of one node keeps the whole subnet excluded, because other nodes may have given its addresses", () => {
    const first = plan({ source: "host-local-n1", isOfAllNodes: false });
    expect(first).toMatchObject({ wholeSubnets: ["10.50.0.0/16"], exclude: ["10.50.0.0/16", "10.50.9.0/24", "10.50.0.2/31"] });
    const next = { exclude: first.exclude, imported: first.imported, isOfAllNodes: false };
    const second = plan({ ...next, source: "host-local-n2", records: [record("10.50.0.9", "c")], used: [] });
    expect(second.exclude).toEqual(["10.50.0.0/16", "10.50.9.0/24", "10.50.0.2/31", "10.50.0.9"]);
    const withoutSubnet = plan({ ...next, source: "host-local-n1", exclude: ["10.50.9.0/24", "10.50.0.2/31"] });
    expect(withoutSubnet).toMatchObject({ wholeSubnets: [], exclude: ["10.50.9.0/24", "10.50.0.2/31"] });
  });

  test("repeated, releases the addresses whose records are gone", () => {
    const imported = { whereabouts: ["10.50.0.2/31"], "host-local-n1": ["10.50.0.8"] };
    const again = plan({
      exclude: ["10.50.9.0/24", "10.50.0.2/31", "10.50.0.8"],
      imported,
      records: [record("10.50.0.3", "b")],
      used: [],
    });
    expect(again.exclude).toEqual(["10.50.9.0/24", "10.50.0.8", "10.50.0.3"]);
    const ended = plan({ exclude: again.exclude, imported: again.imported, records: [], used: [] });
    expect(ended).toMatchObject({ exclude: ["10.50.9.0/24", "10.50.0.8"], imported: { "host-local-n1": ["10.50.0.8"] } });
  });

  test("keeps the address of a running pod excluded, although its record is gone", () => {
    const imported = { whereabouts: ["10.50.0.2/31"] };
    const lost = plan({ exclude: ["10.50.0.2/31"], imported, records: [record("10.50.0.3", "b")] });
    expect(lost).toMatchObject({ exclude: ["10.50.0.2/31"], imported, conflicts: [] });
    expect(lost.unrecorded).toEqual(["10.50.0.2 of the running pod shop/a on node n1: whereabouts has no record of it"]);
    // An address that no import has excluded may be one of Plexus' own.
    expect(plan({ exclude: [], records: [] })).toMatchObject({ exclude: [], unrecorded: [] });
  });

  test("names both owners of an address that two records have", () => {
    const { conflicts } = plan({ records: [record("10.50.0.2", "a"), record("10.50.0.2", "b")], used: [] });
    expect(conflicts).toEqual([
      "10.50.0.2 has two owners: pod shop/a, container c-a, interface net1 (IPPool kube-system/a) and pod shop/b, container c-b, interface net1 (IPPool kube-system/b)",
    ]);
  });

  test("names the running pod that has the address of another pod's record", () => {
    const { conflicts } = plan({ used: [running("10.50.0.2", "thief")] });
    expect(conflicts[0]).toContain(
      "pod shop/a, container c-a, interface net1 (IPPool kube-system/a) and the running pod shop/thief on node n1",
    );
  });

  test("refuses an address that a claimed block hands out, but not one that the block leaves out already", () => {
    const span = blockAt(poolOf([]), 0)?.span;
    if (span === undefined) throw new Error("no block");
    const block = {
      name: "storage-0",
      uid: "b",
      resourceVersion: "1",
      generation: 1,
      isDeleted: false,
      finalizers: [],
      pool: "storage",
      index: 0,
      span,
      node: "n7",
      holder: "h",
      freeAfterSeconds: 60,
      isOrphaned: false,
    };
    const exclude = ["10.50.0.2"];
    const { conflicts } = plan({ blocks: [block], exclude, imported: { whereabouts: exclude } });
    expect(conflicts).toEqual([
      "10.50.0.3 of pod shop/b, container c-b, interface net1 is in AddressBlock storage-0: node n7 may hand it out",
    ]);
  });

  test("refuses an address that was imported from another source", () => {
    const { conflicts } = plan({ imported: { "host-local-n2": ["10.50.0.0/30"] } });
    expect(conflicts).toHaveLength(2);
    expect(conflicts[0]).toContain("was imported from host-local-n2 already");
  });

  test("says which records have no running pod, and excludes their addresses all the same", () => {
    const { stale, exclude } = plan({ used: [running("10.50.0.3", "b")] });
    expect(stale).toEqual([expect.stringContaining("10.50.0.2 of pod shop/a")]);
    expect(exclude).toContain("10.50.0.2/31");
  });

  test("takes a lease of host-local, which names no pod, for the running pod's", () => {
    const lease = record("10.50.0.2", "", { containerId: "c", podNamespace: "" });
    expect(plan({ records: [lease] })).toMatchObject({ conflicts: [], stale: [] });
  });

  test("refuses more exclusions than a pool may have", () => {
    const records = Array.from({ length: 4_097 }, (_, index) => {
      const value = BigInt(0x0a_32_00_00 + 2 * index);
      return { ...record("10.50.0.2", `p${index}`), address: { family: 4, value } as const };
    });
    expect(plan({ records, used: [] }).conflicts).toEqual([expect.stringContaining("4096 are allowed")]);
  });
});

test("addresses become the fewest networks", () => {
  const texts = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.4", "10.0.0.9", "fd00::", "fd00::1"];
  expect(cidrsOf(texts.map(address))).toEqual(["10.0.0.1", "10.0.0.2/31", "10.0.0.4", "10.0.0.9", "fd00::/127"]);
});

function subnets(config: object): readonly string[] {
  return whereaboutsSubnets(JSON.stringify(config)).map(({ address: { value }, prefix }) => `${value.toString(16)}/${prefix}`);
}

test("whereabouts' ranges are found in lists and single plugins, in each of their spellings", () => {
  const ipam = { type: "whereabouts", range: "10.0.0.2-10.0.0.9/24", ipRanges: [{ range: "10.1.0.0/16" }, { range: 5 }] };
  expect(subnets({ plugins: [{ ipam }, { ipam: { type: "host-local" } }] })).toEqual(["a000009/24", "a010000/16"]);
  expect(subnets({ type: "macvlan", ipam })).toHaveLength(2);
  expect([whereaboutsSubnets("{"), whereaboutsSubnets(5)]).toEqual([[], []]);
});
