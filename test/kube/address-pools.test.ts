// Pools of addresses on a real API server: the rules of their CustomResourceDefinitions.

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { addressBlockObject, addressBlocksPath, readAddressBlock } from "../../src/address-pool/address-block.ts";
import { readAddressPool } from "../../src/address-pool/address-pool.ts";
import {
  addressReservationObject,
  addressReservationsPath,
  readAddressReservation,
  type ReservationHolder,
  type ReservationOwner,
} from "../../src/address-pool/address-reservation.ts";
import { readAddress } from "../../src/net/ip.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../harness/kube/apply.ts";
import { type ApiServer, startApiServer } from "../harness/kube/api-server.ts";
import { kubeApi } from "../harness/kube/binaries.ts";
import { poolObject, poolRequests } from "../harness/kube/pool-objects.ts";
import { missing, privateNamespaces } from "../harness/requires.ts";

const claimOwner = {
  kind: "IPAMClaim",
  namespace: "shop",
  name: "db.storage.net1",
  uid: "u",
  pod: undefined,
  ifname: "net1",
} as const;
const holder = (podUid: string, instance?: string): ReservationHolder => {
  return { node: "n1", pod: "db", podUid, containerId: "c", instance };
};
const reservationOf = (text: string, owner: ReservationOwner, holders: readonly ReservationHolder[]) => {
  const address = readAddress(text);
  if (address === undefined) throw new Error(text);
  return addressReservationObject({ pool: "storage", address, owner }, holders) as ApiObject & KubernetesObject;
};

describe.skipIf(missing("pools of addresses on a Kubernetes API", privateNamespaces, kubeApi))("an API server with pools", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  const create = async (object: ApiObject & KubernetesObject): Promise<ApiObject | string> =>
    outcome(await objects.create(collectionOf(object), object));
  const patchPool = async (name: string, spec: object): Promise<ApiObject | string> =>
    outcome(await objects.patch(`/apis/plexus.dev/v1alpha1/addresspools/${name}`, { spec }));

  beforeAll(async () => {
    api = await startApiServer({ alsoAllowed: poolRequests });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    const first = poolObject("storage", [{ subnet: "10.50.0.0/24" }, { subnet: "fd00:50::/64" }]);
    // The server serves a new kind some time after its definition.
    const served = async (): Promise<void> => {
      const made = await create(first);
      if (typeof made === "string") throw new Error(made);
    };
    await vi.waitFor(served, { timeout: 20_000, interval: 100 });
  });
  afterAll(async () => {
    objects?.close();
    await api?.dispose();
  });

  test("a pool gets its defaults, and Plexus reads what the server stored", async () => {
    const stored = outcome(await objects.get("/apis/plexus.dev/v1alpha1/addresspools/storage"));
    expect(readAddressPool(stored)).toMatchObject({ ok: true, value: { blockSize: 64, freeAfterSeconds: 14_400 } });
  });

  test.each([
    ["host bits", { ranges: [{ subnet: "10.60.0.1/24" }] }, "without host bits"],
    ["a subnet without room", { ranges: [{ subnet: "10.60.0.0/31" }] }, "at most a /30"],
    ["a first address outside", { ranges: [{ subnet: "10.60.0.0/24", first: "10.61.0.1" }] }, "must be addresses of the subnet"],
    ["a gateway of another family", { ranges: [{ subnet: "10.60.0.0/24", gateway: "fd00::1" }] }, "subnet's family"],
    ["static addresses outside", { ranges: [{ subnet: "10.60.0.0/24", static: ["10.61.0.0/30"] }] }, "static must be"],
    ["overlapping ranges", { ranges: [{ subnet: "10.60.0.0/16" }, { subnet: "10.60.1.0/24" }] }, "must not overlap"],
    ["an exclusion that is no address", { ranges: [{ subnet: "10.60.0.0/24" }], exclude: ["x"] }, "address or a network"],
    ["a block of 48 addresses", { ranges: [{ subnet: "10.60.0.0/24" }], blockSize: 48 }, "Unsupported value"],
    ["no range", { ranges: [] }, "at least 1 items"],
  ])("a pool with %s is refused", async (_, { ranges, ...spec }, why) => {
    expect(await create(poolObject("wrong", ranges, spec))).toContain(why);
  });

  test("ranges of a pool can be appended, and neither changed nor removed", async () => {
    const [v4, v6] = [{ subnet: "10.50.0.0/24" }, { subnet: "fd00:50::/64" }];
    expect(await patchPool("storage", { ranges: [v6, v4] })).toContain("cannot be changed or removed");
    expect(await patchPool("storage", { ranges: [v4] })).toContain("cannot be changed or removed");
    expect(await patchPool("storage", { ranges: [{ ...v4, static: ["10.50.0.9"] }, v6] })).toContain("cannot be changed");
    expect(await patchPool("storage", { blockSize: 32 })).toContain("blockSize of a pool cannot be changed");
    expect(await patchPool("storage", { ranges: [v4, v6, { subnet: "10.51.0.0/24" }], exclude: ["10.50.0.77"] })).toMatchObject({
      kind: "AddressPool",
    });
  });

  test("a block has the name of its number, is immutable, and is found by its node", async () => {
    const span = { family: 4, first: 0x0a_32_00_40n, last: 0x0a_32_00_7fn } as const;
    const claim = { pool: "storage", index: 1, span, node: "n1", holder: "h", freeAfterSeconds: 300 };
    const block = addressBlockObject(claim) as ApiObject & KubernetesObject;
    expect(await create({ ...block, metadata: { name: "storage-2" } })).toContain("a dash and the block's number");
    const made = readAddressBlock(await create(block));
    expect(made).toMatchObject({ ok: true, value: { ...claim, isOrphaned: false } });
    expect(await create(block)).toContain("already exists");
    expect(outcome(await objects.patch(`${addressBlocksPath}/storage-1`, { spec: { node: "n2" } }))).toContain("is immutable");
    const listed = async (node: string): Promise<unknown> =>
      objects.list(addressBlocksPath, { fieldSelector: `spec.node=${node}` });
    expect(await listed("n1")).toMatchObject({ kind: "list", items: [{ metadata: { name: "storage-1" } }] });
    expect(await listed("n2")).toMatchObject({ kind: "list", items: [] });
    const marked = await objects.patch(`${addressBlocksPath}/storage-1/status`, {
      status: { orphanedSince: "2026-01-01T00:00:00Z" },
    });
    expect(readAddressBlock(outcome(marked))).toMatchObject({ ok: true, value: { isOrphaned: true } });
    const stale = made.ok ? { uid: made.value.uid, resourceVersion: made.value.resourceVersion } : {};
    expect(await objects.remove(`${addressBlocksPath}/storage-1`, stale)).toMatchObject({ kind: "conflict" });
  });

  test.each(["10.50.0.9", "fd00:50::1", "fd00::", "::1"])("a reservation of %s has one possible name", async (text) => {
    const reservation = reservationOf(text, claimOwner, [holder("a")]);
    const other = { ...reservation, metadata: { name: "storage.again" } };
    expect(await create(other)).toContain("the name must be the pool's name");
    expect(readAddressReservation(await create(reservation))).toMatchObject({
      ok: true,
      value: { address: readAddress(text), owner: claimOwner, holders: [holder("a")] },
    });
  });

  test("the second holder of an address is another pod of the same VirtualMachineInstance, by a claim", async () => {
    const made = readAddressReservation(await create(reservationOf("10.50.0.20", claimOwner, [holder("a", "vmi")])));
    if (!made.ok) throw new Error(made.problem);
    const path = `${addressReservationsPath}/${made.value.name}`;
    const join = async (second: ReservationHolder): Promise<ApiObject | string> =>
      outcome(await objects.patch(path, { spec: { holders: [holder("a", "vmi"), second] } }));
    const why = "only during a live migration";
    expect(await join(holder("b"))).toContain(why);
    expect(await join(holder("b", "other"))).toContain(why);
    expect(await join(holder("a", "vmi"))).toContain(why);
    expect(await join(holder("b", "vmi"))).toMatchObject({ kind: "AddressReservation" });
    expect(outcome(await objects.patch(path, { spec: { owner: { uid: "x" } } }))).toContain("immutable, except for its holders");
    const pod: ReservationOwner = { ...claimOwner, kind: "Pod" };
    expect(await create(reservationOf("10.50.0.21", pod, [holder("a", "vmi"), holder("b", "vmi")]))).toContain(why);
  });

  test("a pool that has a subnet in common with another one is refused with both names, also when it grows", async () => {
    const refusal = "the subnets of AddressPool second overlap with those of AddressPool storage";
    // The API server compiles the policy some time after its creation.
    await vi.waitFor(
      async () => {
        const made = await create(poolObject("second", [{ subnet: "10.50.0.128/25" }]));
        if (typeof made !== "string") await objects.patch(poolPath("second"), { metadata: { finalizers: null } });
        if (typeof made !== "string") await objects.remove(poolPath("second"));
        expect(made).toContain(refusal);
      },
      { timeout: 20_000, interval: 250 },
    );
    expect(await create(poolObject("second", [{ subnet: "10.0.0.0/8" }]))).toContain(refusal);
    expect(await create(poolObject("second", [{ subnet: "10.70.0.0/24" }, { subnet: "fd00:70::/64" }]))).toMatchObject({
      kind: "AddressPool",
    });
    const grown = [{ subnet: "10.70.0.0/24" }, { subnet: "fd00:70::/64" }, { subnet: "fd00:50::/48" }];
    expect(await patchPool("second", { ranges: grown })).toContain(refusal);
  });
});

function poolPath(name: string): string {
  return `/apis/plexus.dev/v1alpha1/addresspools/${name}`;
}
