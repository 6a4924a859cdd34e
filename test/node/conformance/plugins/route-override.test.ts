// The delegate route-override after bridge-adapter on a kernel. The module proxy does not serve route-override-cni, so the expectations are those of its source.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { openStage, type Attaching, fullGrant, nothing, type Stage } from "../../../lab/stage.ts";
import { missingBuild } from "../../../lab/plexus.ts";

const components = ["bridge-adapter", "ipam-host-local", "route-override"] as const;
const ranges = [[{ subnet: "10.80.0.0/24" }], [{ subnet: "fd00:80::/64" }]];
const routes = [{ dst: "0.0.0.0/0" }, { dst: "172.16.0.0/12" }, { dst: "::/0" }, { dst: "fd00:99::/48" }];
const networks = ["10.80.0.0/24", "fd00:80::/64"];
const flushed = [{ gateway: "0.0.0.0" }, { gateway: "::" }];

interface Case {
  readonly title: string;
  readonly keys: object;
  /** Destinations in the pod, without link-local ones. */
  readonly left: readonly string[];
  readonly result: object;
  /** False: CHECK fails. */
  readonly checks?: false;
}

const cases: readonly Case[] = [
  {
    title: "DE-ROUTE-OVERRIDE-01, DE-ROUTE-OVERRIDE-02: flushroutes leaves routes of links only",
    keys: { flushroutes: true },
    left: networks,
    result: {},
  },
  {
    title: "DE-ROUTE-OVERRIDE-03: flushgateway removes the default routes",
    keys: { flushgateway: true },
    left: [...networks, "172.16.0.0/12", "fd00:99::/48"],
    result: { ips: flushed, routes: [{ dst: "172.16.0.0/12" }, { dst: "fd00:99::/48" }] },
  },
  {
    title: "DE-ROUTE-OVERRIDE-04, DE-ROUTE-OVERRIDE-05: delroutes and addroutes",
    keys: {
      delroutes: [{ dst: "172.16.0.0/12" }, { dst: "::/0" }],
      addroutes: [
        { dst: "172.16.0.0/12", gw: "10.80.0.1" },
        { dst: "198.51.100.0/24", gw: "192.0.2.1" },
      ],
    },
    left: [...networks, "default", "172.16.0.0/12", "fd00:99::/48"],
    // The kernel refuses the last one: a warning, as with route-override-cni, whose CHECK then fails, too.
    result: {
      routes: [
        { dst: "0.0.0.0/0" },
        { dst: "fd00:99::/48" },
        { dst: "172.16.0.0/12", gw: "10.80.0.1" },
        { dst: "198.51.100.0/24", gw: "192.0.2.1" },
      ],
    },
    checks: false,
  },
  {
    title: "DE-ROUTE-OVERRIDE-06, DE-ROUTE-OVERRIDE-07: args.cni has precedence, and skipcheck lets CHECK pass",
    // CHECK without skipcheck finds the route of the link, which delroutes leaves because the result lacks it.
    keys: {
      flushgateway: true,
      args: { cni: { flushgateway: false, skipcheck: true, delroutes: [...routes, { dst: "10.80.0.0/24" }] } },
    },
    left: networks,
    result: { ips: [{ gateway: "10.80.0.1" }, { gateway: "fd00:80::1" }] },
  },
];

describe.skipIf(
  missing("route-override on a kernel", privateNamespaces, iproute2, linkType("veth"), linkType("bridge"), () =>
    missingBuild({ components: [...components] }),
  ),
)("route-override after bridge-adapter", () => {
  let stage: Stage;
  beforeAll(() => {
    stage = openStage({ components: [...components] });
  });
  afterAll(() => stage?.dispose());

  test.each(cases)("$title", async ({ keys, left, result, checks }) => {
    const wasm = {
      grants: {
        "bridge-adapter": {
          log: {},
          links: { bridges: ["br0"], forwarding: true },
          delegation: { plugins: ["ipam-host-local"] },
        },
        "ipam-host-local": fullGrant(stage.leases),
        "route-override": { log: {}, links: {} },
      },
    };
    const pod = stage.pod();
    const ipam = { type: "ipam-host-local", ranges, routes };
    const config = stage.network(
      [
        { type: "bridge-adapter", bridge: "br0", isGateway: true, ipam },
        { type: "route-override", ...keys },
      ],
      {
        wasm,
      },
    );
    const attaching: Attaching = { config, containerId: pod.name, pod };
    const added = await stage.call("ADD", attaching);
    expect({ status: added.status, ...added.json, routes: added.json?.["routes"] ?? [] }).toMatchObject({
      status: 0,
      routes: [],
      ...result,
    });
    const present = [4, 6].flatMap((family) => pod.routes(family === 4 ? 4 : 6)).filter((dst) => !/^(?:fe80:|ff00:)/.test(dst));
    expect(present.toSorted()).toEqual([...left].toSorted());
    expect((await stage.call("CHECK", attaching)).status).toBe(checks === false ? 1 : 0);
    await stage.succeed("DEL", attaching);
    expect(stage.left()).toEqual(nothing);
  });
});
