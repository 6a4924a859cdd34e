// The Event of a pod whose address another host has, through the installed binary and a real API server.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { connectNode, missingForKube, type Node, openNodeStage } from "../lab/kube/node.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { connectNeighbour, type NeighbourHost } from "../lab/neighbour-host.ts";
import { fullGrant } from "../lab/stage.ts";

describe.skipIf(missingForKube("Events of address conflicts"))("a pod whose address another host has", () => {
  let api: ApiServer;
  let node: Node;
  let other: NeighbourHost | undefined;
  beforeAll(async () => {
    api = await sharedApiServer();
    node = connectNode(openNodeStage([], ["bridge-adapter", "ipam-host-local"]), api);
  });
  afterAll(() => {
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
  });
});
