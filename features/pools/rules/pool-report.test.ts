import { describe, expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import { addressReservationObject } from "./address-reservation.ts";
import { podAddresses } from "./pod-addresses.ts";
import { poolReport } from "./pool-report.ts";

const stored = (name: string, spec: object, status: object = {}) => ({
  metadata: { name, uid: name, resourceVersion: "1" },
  spec,
  status,
});
const pool = stored(
  "storage",
  { ranges: [{ subnet: "10.50.0.0/24", static: ["10.50.0.128/25"] }], blockSize: 32 },
  { acceptedRanges: 1, conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "" }] },
);
const block = (index: number, node: string, first = `10.50.0.${index === 0 ? 1 : index * 32}`) =>
  stored(`storage-${index}`, {
    pool: "storage",
    index,
    first,
    last: `10.50.0.${index * 32 + 31}`,
    node,
    holder: "h",
    freeAfterSeconds: 60,
  });
const pod = (name: string, ip: string, node = "n1", more: object = {}) => ({
  metadata: {
    namespace: "shop",
    name,
    uid: name,
    annotations: { "k8s.v1.cni.cncf.io/network-status": JSON.stringify([{ name: "x", interface: "net1", ips: [ip] }]) },
  },
  spec: { nodeName: node },
  ...more,
});

function report(objects: {
  blocks?: readonly unknown[];
  reservations?: readonly unknown[];
  pods?: readonly unknown[];
  pools?: readonly unknown[];
}) {
  const { blocks = [block(0, "n1"), block(1, "n2")], reservations = [], pods = [], pools = [pool] } = objects;
  return poolReport({ pools, blocks, reservations, used: pods.flatMap(podAddresses) });
}

describe("the report on pools", () => {
  test("has the use by block, and free addresses", () => {
    const { pools, blocks, conflicts } = report({
      pods: [pod("a", "10.50.0.5"), pod("b", "10.50.0.40/24", "n2"), pod("c", "10.9.0.1")],
    });
    expect(conflicts).toEqual([]);
    expect(pools).toMatchObject([
      { name: "storage", blocks: 2, nodes: 2, addresses: [{ total: "126", inBlocks: "62", free: "64" }], static: "127" },
    ]);
    expect(blocks).toMatchObject([
      { name: "storage-0", node: "n1", size: "30", used: 1, state: "claimed" },
      { name: "storage-1", node: "n2", size: "32", used: 1 },
    ]);
  });

  test.each([
    [
      "an address of two pods",
      { pods: [pod("a", "10.50.0.5"), pod("b", "10.50.0.5")] },
      "10.50.0.5 has two owners: pod shop/a on node n1 and pod shop/b on node n1",
    ],
    [
      "an address of another node's block",
      { pods: [pod("a", "10.50.0.40")] },
      "10.50.0.40 of pod shop/a on node n1 is in AddressBlock storage-1 of node n2",
    ],
    [
      "an address of no block",
      { pods: [pod("a", "10.50.0.70")] },
      "10.50.0.70 of pod shop/a on node n1 is in no block and no reservation",
    ],
    [
      "a block that is not the pool's",
      { blocks: [block(1, "n1", "10.50.0.33")] },
      "AddressBlock storage-1 of node n1 has 10.50.0.33-10.50.0.63",
    ],
    [
      "a block without a pool",
      { pools: [], blocks: [block(0, "n1")] },
      "storage-0 is of AddressPool storage, which does not exist",
    ],
    [
      "an object that cannot be read",
      { reservations: [stored("storage.10.50.0.129", { pool: 5 })] },
      "AddressReservation storage.10.50.0.129 cannot be read",
    ],
  ])("names %s", (_, objects, conflict) => {
    expect(report(objects).conflicts).toEqual([expect.stringContaining(conflict)]);
  });

  test("two pods hold a reserved address by rule, and any other pod's is a conflict", () => {
    const address = readAddress("10.50.0.130");
    if (address === undefined) throw new Error("no address");
    const owner = { kind: "IPAMClaim", namespace: "shop", name: "vm", uid: "c", pod: undefined, ifname: "net1" } as const;
    const holders = ["a", "b"].map((name) => ({ node: "n1", pod: name, podUid: name, containerId: "c", instance: "vmi" }));
    const made = addressReservationObject({ pool: "storage", address, owner }, holders) as { metadata: object; spec: object };
    const reservation = { ...made, metadata: { ...made.metadata, uid: "u", resourceVersion: "1" } };
    const pods = [pod("a", "10.50.0.130"), pod("b", "10.50.0.130", "n2")];
    expect(report({ reservations: [reservation], pods })).toMatchObject({
      conflicts: [],
      reservations: [{ address: "10.50.0.130", owner: "IPAMClaim shop/vm", holders: ["shop/a on n1", "shop/b on n1"] }],
    });
    const thief = [pod("x", "10.50.0.130")];
    expect(report({ reservations: [reservation], pods: thief }).conflicts).toEqual([
      "10.50.0.130 of pod shop/x on node n1 is reserved for IPAMClaim shop/vm",
    ]);
  });
});

test.each([
  ["finished", { status: { phase: "Succeeded" } }],
  ["of the node's network", { spec: { nodeName: "n", hostNetwork: true } }],
  [
    "without a readable status",
    { metadata: { namespace: "a", name: "b", uid: "c", annotations: { "k8s.v1.cni.cncf.io/network-status": "[{" } } },
  ],
])("a pod that is %s has no addresses", (_, more) => {
  expect(podAddresses(pod("a", "10.50.0.5", "n1", more))).toEqual([]);
});
