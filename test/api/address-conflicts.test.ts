// The Event of a pod whose address another host has, through the installed binary and a real API server.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { connectNode, missingForKube, type Node, openNodeStage } from "../lab/kube/node.ts";
import { daemonRights, poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { connectNeighbour, type NeighbourHost } from "../lab/neighbour-host.ts";
import { fullGrant } from "../lab/stage.ts";

describe.skipIf(missingForKube("Events of address conflicts"))("a pod whose address another host has", () => {
  let api: ApiServer;
  let node: Node;
  let other: NeighbourHost | undefined;
  let daemon: TestDaemon | undefined;
  beforeAll(async () => {
    const watched = ["pods", "network-attachment-definitions", "namespaces"].flatMap((each) => [`list ${each}`, `watch ${each}`]);
    api = await sharedApiServer({ alsoAllowed: [...poolRequests, ...watched] });
    node = connectNode(openNodeStage([], ["bridge-adapter", "ipam-host-local"]), api);
  });
  afterAll(async () => {
    await daemon?.stop();
    other?.dispose();
    node?.dispose();
    api?.dispose();
  });

  test("PR-03: the pod's Event names the address and the other host's MAC", async () => {
    other = connectNeighbour(node.node, "other0", "br-wire");
    other.has("10.40.0.2/24");
    await api.network("shop", "wire", [
      {
        type: "bridge-adapter",
        bridge: "br-wire",
        ipam: { type: "ipam-host-local", subnet: "10.40.0.0/24", conflictDetection: { waitMs: 200, probes: 1 } },
      },
    ]);
    const pod = await api.pod("shop", "wired", "wire");
    const grants = {
      "ipam-host-local": fullGrant(node.leases),
      "bridge-adapter": { log: {}, announce: {}, links: { bridges: ["br-wire"] }, delegation: { plugins: ["ipam-host-local"] } },
    };
    await node.call("ADD", node.attaching(pod, { wasm: { grants } }));
    expect(await api.statusOf("shop", "wired")).toMatchObject([{}, { name: "shop/wire", ips: ["10.40.0.3"] }]);
    await expect
      .poll(async () => [...(await api.eventsOf(pod))].sort())
      .toEqual([
        expect.stringMatching(/^Normal AddedInterface Add eth0/),
        "Normal AddedInterface Add net1 [10.40.0.3/24] from shop/wire",
        `Warning AddressConflict net1 from wire: address 10.40.0.2 is in use by the host with MAC ${other.mac}; Plexus gives it to no pod for an hour`,
      ]);
    other.dispose();
  });

  test("PR-01 PR-03: with conflictDetection of an AddressPool each network that names the pool asks its wire", async () => {
    const objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    for (const right of daemonRights) await api.admin.create(right);
    // One block has all addresses, so that the first of them is known.
    const pool = poolObject("wired", [{ subnet: "10.41.0.0/29" }], {
      blockSize: 8,
      conflictDetection: { waitMs: 200, probes: 1 },
    });
    await vi.waitFor(
      async () => expect(outcome(await objects.create(collectionOf(pool), pool))).toMatchObject({ kind: "AddressPool" }),
      {
        timeout: 60_000,
        interval: 100,
      },
    );
    objects.close();
    const socket = join(node.plexus.directory, "daemon", "plexusd.sock");
    const statusSocket = join(node.plexus.directory, "status.sock");
    const place = ["--node-name", "node-1", "--state-dir", node.plexus.state("cni"), "--status-socket", statusSocket];
    daemon = await startDaemon({ socket, args: [...place, "--reconcile-interval", "0"] });
    other = connectNeighbour(node.node, "other1", "br-pool");
    other.has("10.41.0.2/29");
    const step = { type: "bridge-adapter", bridge: "br-pool", ipam: { type: "ipam-host-local", pool: "wired" } };
    await api.network("shop", "pooled", [step]);
    const pod = await api.pod("shop", "pooled", "pooled");
    const adapter = { log: {}, links: { bridges: ["br-pool"] }, delegation: { plugins: ["ipam-host-local"] } };
    const grants = { "ipam-host-local": { log: {}, leases: { pools: ["wired"] }, resolver: {} }, "bridge-adapter": adapter };
    const call = node.attaching(pod, { wasm: { grants } });
    // Without the grant of announce an address could be given twice.
    expect((await node.requestAt(socket, "ADD", call)).stdout).toContain("needs the capability announce");
    await node.requestAt(socket, "DEL", call);
    const config = { ...call.config, wasm: { grants: { ...grants, "bridge-adapter": { ...adapter, announce: {} } } } };
    const added = await node.requestAt(socket, "ADD", { ...call, config });
    expect([added.status, added.stderr]).toEqual([0, ""]);
    expect(await api.statusOf("shop", "pooled")).toMatchObject([{}, { name: "shop/pooled", ips: ["10.41.0.3"] }]);
    await expect
      .poll(async () => [...(await api.eventsOf(pod))])
      .toContainEqual(
        `Warning AddressConflict net1 from pooled: address 10.41.0.2 is in use by the host with MAC ${other.mac}; Plexus gives it to no pod for an hour`,
      );
    expect((await node.requestAt(socket, "DEL", { ...call, config })).status).toBe(0);
  });
});
