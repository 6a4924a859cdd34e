// conflictDetection through the installed binary: another host on the wire has the address that IPAM gives.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { leases } from "../../lab/namespaces.ts";
import { connectNeighbour, type NeighbourHost } from "../../lab/neighbour-host.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../lab/requires.ts";
import { fullGrant, nothing, openStage, type Stage } from "../../lab/stage.ts";

const lacks = missing("conflictDetection", privateNamespaces, iproute2, linkType("veth"), linkType("bridge"));

describe.skipIf(lacks)("conflictDetection", () => {
  let stage: Stage;
  let other: NeighbourHost | undefined;
  beforeEach(() => {
    stage = openStage({ native: [], components: ["bridge-adapter", "macvlan", "ipam-host-local"] });
  });
  afterEach(() => {
    other?.dispose();
    stage.dispose();
  });

  const network = (main: object, ipam: object = {}): object =>
    stage.network(
      [
        {
          ...main,
          ipam: {
            type: "ipam-host-local",
            ranges: [[{ subnet: "10.10.0.0/24", rangeStart: "10.10.0.2", rangeEnd: "10.10.0.5" }], [{ subnet: "fd10::/120" }]],
            conflictDetection: { waitMs: 200, probes: 1 },
            ...ipam,
          },
        },
      ],
      {
        wasm: {
          grants: {
            "ipam-host-local": fullGrant(stage.leases),
            "bridge-adapter": {
              log: {},
              announce: {},
              links: { bridges: ["br0"] },
              delegation: { plugins: ["ipam-host-local"] },
            },
            macvlan: { log: {}, announce: {}, links: { parents: ["up0"] }, delegation: { plugins: ["ipam-host-local"] } },
          },
        },
      },
    );
  const bridge = { type: "bridge-adapter", bridge: "br0" };

  test("PR-01 PR-03: a pod gets the next address where another host has the first, and nobody gets it for an hour", async () => {
    other = connectNeighbour(stage.node, "other0", "br0");
    other.has("10.10.0.2/24");
    const one = { config: network(bridge), containerId: "one", pod: stage.pod() };
    const added = await stage.succeed("ADD", one);
    expect(added.json).toMatchObject({ ips: [{ address: "10.10.0.3/24" }, { address: expect.stringMatching(/^fd10::/) }] });
    expect(one.pod.ping("10.10.0.2")).toBe(true);
    expect(leases(stage.leases).filter((each) => each.includes("10.10"))).toEqual(["pods/10.10.0.3"]);
    // 10.10.0.4 and 10.10.0.5 are next. Then 10.10.0.2 would be, and is passed over.
    const others = ["two", "three"].map((containerId) => ({ ...one, containerId, pod: stage.pod() }));
    for (const each of others) await stage.succeed("ADD", each);
    await stage.succeed("DEL", one);
    const last = { ...one, containerId: "last", pod: stage.pod() };
    expect((await stage.succeed("ADD", last)).json).toMatchObject({ ips: [{ address: "10.10.0.3/24" }, {}] });
    for (const each of [...others, last]) await stage.succeed("DEL", each);
    expect(stage.left()).toMatchObject({ leases: nothing.leases, state: nothing.state });
  });

  test("PR-02 PR-03: an IPv6 address of another host counts too; after three conflicts the ADD fails with the MACs, and leaves nothing", async () => {
    other = connectNeighbour(stage.node, "other0", "br0");
    for (const last of [2, 3, 4]) other.has(`fd10::${last}/120`);
    const one = { config: network(bridge), containerId: "one", pod: stage.pod() };
    const failed = await stage.call("ADD", one);
    const conflict = (last: number): string => `fd10::${last} is in use by the host with MAC ${other?.mac}`;
    expect(failed.json).toMatchObject({
      code: 11,
      msg: expect.stringContaining(`address conflict: ${[2, 3, 4].map(conflict).join("; ")}`),
    });
    expect([one.pod.links(), leases(stage.leases)]).toEqual([[], []]);
    // The three addresses are taken for an hour, so the next ADD begins with another one.
    const again = await stage.succeed("ADD", { ...one, containerId: "again" });
    expect(again.json).toMatchObject({ ips: [{}, { address: "fd10::5/120" }] });
  });

  test("PR-04: with detectGateway an ADD needs a host that answers for the gateway", async () => {
    other = connectNeighbour(stage.node, "other0", "br0");
    const ranges = [[{ subnet: "10.10.0.0/24", gateway: "10.10.0.254" }]];
    const conflictDetection = { waitMs: 100, probes: 1, detectGateway: true };
    const one = { config: network(bridge, { ranges, conflictDetection }), containerId: "one", pod: stage.pod() };
    const failed = await stage.call("ADD", one);
    expect(failed.json).toMatchObject({
      code: 11,
      msg: expect.stringContaining("detectGateway: no host answers for the gateway 10.10.0.254"),
    });
    expect([one.pod.links(), leases(stage.leases)]).toEqual([[], []]);
    other.has("10.10.0.254/24");
    await stage.succeed("ADD", one);
    expect(one.pod.ping("10.10.0.254")).toBe(true);
  });

  test.skipIf(missing("macvlan", linkType("macvlan")))("PR-03: a macvlan gets the next address, too", async () => {
    other = connectNeighbour(stage.node, "up0");
    other.has("10.10.0.2/24");
    const one = { config: network({ type: "macvlan", master: "up0" }), containerId: "one", pod: stage.pod() };
    const added = await stage.succeed("ADD", one);
    expect(added.json).toMatchObject({ ips: [{ address: "10.10.0.3/24" }, {}] });
    expect(one.pod.ping("10.10.0.2")).toBe(true);
    await stage.succeed("CHECK", one);
    await stage.succeed("DEL", one);
    expect([one.pod.links(), leases(stage.leases)]).toEqual([[], []]);
  });
});
