// Pools in random orders of faults on a real API server. PLEXUS_TEST_SEED repeats the draws, PLEXUS_TEST_POOL_EVENTS sets the number of events. The
// model-based test of features/pools/rules/ makes many more orders, of messages too.

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { applyObjects, collectionOf, objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { daemonRights, poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { rounds } from "../lab/rounds.ts";
import { testSeed } from "../lab/random-from.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { PoolMachine } from "./pool-machine.ts";
import { PoolOrders } from "./pool-orders.ts";

const count = rounds(200, "PLEXUS_TEST_POOL_EVENTS");
/** Two blocks of two addresses for three nodes, so that the nodes meet often. */
const pool = poolObject("orders", [{ subnet: "10.179.0.0/24", first: "10.179.0.2", last: "10.179.0.5" }], {
  blockSize: 2,
  freeAfterSeconds: 60,
});

describe.skipIf(missing("pools in random orders", privateNamespaces, kubeApi))("a pool of three nodes", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let machines: readonly PoolMachine[] = [];
  const create = async (object: ApiObject & KubernetesObject): Promise<void> => {
    const made = await objects.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(made.why);
  };

  beforeAll(async () => {
    const others = ["nodes", "pods", "ipamclaims", "statefulsets"].flatMap((each) =>
      ["get", "list", "watch", "create", "delete"].map((verb) => `${verb} ${each}`),
    );
    api = await sharedApiServer({ alsoAllowed: [...poolRequests, ...others] });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    for (const object of daemonRights) await api.admin.create(object);
    await vi.waitFor(() => create(pool), { timeout: 60_000, interval: 100 });
    const names = ["node-1", "node-2", "node-3"];
    for (const name of names) await create({ apiVersion: "v1", kind: "Node", metadata: { name } });
    machines = await Promise.all(names.map((name) => PoolMachine.open(name, api)));
  });
  afterAll(async () => {
    for (const machine of machines) await machine.dispose();
    objects?.close();
    await api?.dispose();
  });

  test("no address has two owners, in random orders of partitions, clocks, returns, pods and kills", async () => {
    const seed = testSeed("pool orders");
    const orders = new PoolOrders(objects, "orders", machines, seed);
    const ended = new AbortController();
    const controlling = orders.control(ended.signal);
    try {
      await orders.addEverywhere();
      for (let events = 0; events < count; events++) await orders.next();
      expect(orders.counts.addresses).toBeGreaterThan(0);
    } catch (error) {
      throw new Error(`PLEXUS_TEST_SEED=${seed}, after: ${orders.order.join(", ")}`, { cause: error });
    } finally {
      ended.abort();
      await controlling;
      process.stderr.write(`pool orders: ${orders.counts.addresses} addresses, ${orders.counts.givenAway} blocks given away\n`);
    }
    // The ordinary user makes 160 events. This limit only ends a test that hangs.
  }, 600_000);
});
