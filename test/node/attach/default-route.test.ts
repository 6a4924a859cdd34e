// default-route (NPWG 4.1.2.1.9): the pod's routes, the answer to the runtime, the result cache and the network status agree. The tests call
// the installed binary with the reference plugins.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { installRecorder } from "../../lab/recorder.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

type Pod = ReturnType<Stage["pod"]>;
interface Route {
  readonly dst: string;
  readonly gateway?: string;
  readonly dev?: string;
  readonly metric?: number;
}
interface ResultRoute {
  readonly dst: string;
  readonly gw?: string;
  readonly priority?: number;
}

const defaultDestinations = new Set(["default", "0.0.0.0/0", "::/0"]);

/** The pod's default routes as `ip` shows them: gateway, link and metric. */
function defaults(pod: Pod, family: 4 | 6): readonly string[] {
  const shown = pod.exec(["ip", "-json", `-${family}`, "route", "show", "default"]);
  expect(shown.status).toBe(0);
  const routes = JSON.parse(shown.stdout === "" ? "[]" : shown.stdout) as readonly Route[];
  return routes
    .filter(({ dst }) => defaultDestinations.has(dst))
    .map(({ gateway = "-", dev = "-", metric = 0 }) => `${gateway} ${dev} ${metric}`);
}

/** The gateways of a result's default routes. */
function gateways(result: unknown): readonly (string | undefined)[] {
  const { routes = [] } = (result ?? {}) as { readonly routes?: readonly ResultRoute[] };
  return routes.filter(({ dst }) => defaultDestinations.has(dst)).map(({ gw }) => gw);
}

describe.skipIf(missingForMixed("default routes"))("a pod's default routes", () => {
  let stage: Stage;
  let manifests: Manifests;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    const ranges = [[{ subnet: "10.20.0.0/24" }], [{ subnet: "fd00:20::/64" }]];
    const ipam = { type: "ipam-host-local", ranges };
    manifests.network("plain", [{ type: "bridge", bridge: "br-plain", isGateway: true, ipam }]);
    const routes = [{ dst: "0.0.0.0/0" }, { dst: "::/0" }, { dst: "10.128.0.0/9", gw: "10.20.0.1" }];
    manifests.network("routed", [{ type: "bridge", bridge: "br-routed", isGateway: true, ipam: { ...ipam, routes } }]);
  });
  afterEach(() => stage.dispose());

  const dual = { type: "ipam-host-local", ranges: [[{ subnet: "10.10.0.0/24" }], [{ subnet: "fd00:10::/64" }]] };
  const attaching = (
    selection: string | readonly object[],
    main: readonly object[] = [bridgeStep({ ipam: dual })],
  ): Attaching & { readonly pod: Pod } => {
    manifests.pod("web", selection);
    return {
      config: stage.network(main, { manifests: manifests.directory, cniVersion: "1.0.0" }),
      containerId: "ctr-web",
      pod: stage.pod(),
      args: manifests.argsOf("web"),
    };
  };
  const cached = (network: string, ifname: string): unknown =>
    JSON.parse(readFileSync(join(stage.plexus.state("cni"), "results", `${network}-ctr-web-${ifname}`), "utf8")).result;
  /** CHECK and DEL succeed after the ADD. */
  const finish = async (web: Attaching & { readonly pod: Pod }): Promise<void> => {
    await stage.succeed("CHECK", web);
    await stage.succeed("DEL", web);
    expect([web.pod.links(), stage.left()]).toEqual([[], nothing]);
  };

  test("N11-17: without the key the default network's default routes stay, even if another network has a gateway", async () => {
    const web = attaching("plain");
    const added = await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.10.0.1 eth0 0"], ["fd00:10::1 eth0 1024"]]);
    expect(gateways(added.json)).toEqual(["10.10.0.1", "fd00:10::1"]);
    expect(manifests.statusOf("web")).toMatchObject([{ gateway: ["10.10.0.1", "fd00:10::1"] }, {}]);
    await finish(web);
  });

  test("N11-14, N11-16: an IPv4 gateway replaces the IPv4 default route and keeps the IPv6 one", async () => {
    const web = attaching([{ name: "plain", "default-route": ["10.20.0.1"] }]);
    const added = await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.20.0.1 net1 0"], ["fd00:10::1 eth0 1024"]]);
    for (const result of [added.json, cached("pods", "eth0")]) {
      expect(gateways(result)).toEqual(["fd00:10::1"]);
      expect(result).toMatchObject({ ips: [{ address: "10.10.0.2/24" }, { gateway: "fd00:10::1" }] });
      expect(JSON.stringify(result)).not.toContain('"10.10.0.1"');
    }
    expect(gateways(cached("plain", "net1"))).toEqual(["10.20.0.1"]);
    const status = manifests.statusOf("web");
    expect(status).toMatchObject([{ gateway: ["fd00:10::1"] }, { "default-route": ["10.20.0.1"], gateway: ["10.20.0.1"] }]);
    expect(status).not.toHaveProperty("0.default-route");
    await finish(web);
  });

  test("N11-14: an IPv6 gateway replaces the IPv6 default route only; gateways of both families replace both", async () => {
    for (const [gatewayList, ipv4, ipv6] of [
      [["fd00:20::1"], "10.10.0.1 eth0 0", "fd00:20::1 net1 1024"],
      [["fd00:20::1", "10.20.0.1"], "10.20.0.1 net1 0", "fd00:20::1 net1 1024"],
    ] as const) {
      const web = attaching([{ name: "plain", "default-route": gatewayList }]);
      await stage.succeed("ADD", web);
      expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([[ipv4], [ipv6]]);
      await finish(web);
    }
  });

  test("N11-14: an empty list keeps the selected network's default routes and removes those of other networks", async () => {
    // The default network makes no default route, so that the plugins of the selected network can make theirs.
    const web = attaching([{ name: "routed", "default-route": [] }], [bridgeStep({ isDefaultGateway: false, ipam: dual })]);
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.20.0.1 net1 0"], ["fd00:20::1 net1 1024"]]);
    expect(gateways(cached("routed", "net1"))).toHaveLength(2);
    expect(manifests.statusOf("web")).toMatchObject([{}, { "default-route": ["10.20.0.1", "fd00:20::1"] }]);
    await finish(web);
  });

  test("N11-14: an empty list on a network without default routes leaves the pod without default routes", async () => {
    const web = attaching([{ name: "plain", "default-route": [] }]);
    const added = await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6), gateways(added.json)]).toEqual([[], [], []]);
    await finish(web);
  });

  test("N11-14: removes default routes with metric, on-link, without gateway and with several next hops", async () => {
    // The default network's plugin makes these routes. Two of them stay: the route of another table and the unreachable route.
    const recorder = installRecorder(stage.plexus.cniPath, "pass").path;
    const routes = [
      "-4 route replace default nexthop via 10.10.0.1 dev eth0 nexthop via 10.10.0.254 dev eth0",
      "-4 route add default via 169.254.1.1 dev eth0 onlink metric 4096",
      "-4 route add default dev eth0 metric 5",
      "-6 route append default via fd00:10::9 dev eth0",
      "-6 route add default dev eth0 metric 7",
      "-4 route add default via 10.10.0.1 dev eth0 table 100",
      "-4 route add unreachable default metric 9999",
    ];
    const commands = routes.map((each) => `nsenter --net="$CNI_NETNS" ip ${each} || exit 1`).join("\n");
    const script = `#!/bin/sh\nif [ "$CNI_COMMAND" = ADD ]; then\n${commands}\nfi\nexec ${recorder}\n`;
    writeFileSync(join(stage.plexus.cniPath, "router"), script, { mode: 0o755 });
    const main = [bridgeStep({ ipam: dual }), { type: "router" }];
    const web = attaching([{ name: "plain", "default-route": ["10.20.0.1", "fd00:20::1"] }], main);
    await stage.succeed("ADD", web);
    expect(defaults(web.pod, 4)).toEqual(["10.20.0.1 net1 0", "- - 9999"]);
    expect(defaults(web.pod, 6)).toEqual(["fd00:20::1 net1 1024"]);
    expect(web.pod.exec(["ip", "route", "show", "table", "100"]).stdout).toMatch(/^default via 10\.10\.0\.1 dev eth0/);
    await finish(web);
  });

  test("N11-15: of two gateways the first gets the lower metric", async () => {
    const web = attaching([{ name: "plain", "default-route": ["10.20.0.7", "10.20.0.1", "fd00:20::7", "fd00:20::1"] }]);
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([
      ["10.20.0.7 net1 0", "10.20.0.1 net1 1"],
      ["fd00:20::7 net1 1024", "fd00:20::1 net1 1025"],
    ]);
    expect(gateways(cached("plain", "net1"))).toEqual(["10.20.0.7", "10.20.0.1", "fd00:20::7", "fd00:20::1"]);
    await finish(web);
  });

  test("D-08: one network may have the IPv4 default route and another the IPv6 one, as with Multus", async () => {
    const web = attaching([
      { name: "plain", "default-route": ["10.20.0.1"] },
      { name: "plain", "default-route": ["fd00:20::1"] },
    ]);
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.20.0.1 net1 0"], ["fd00:20::1 net2 1024"]]);
    await finish(web);
  });

  test("A-14: a pod without a default route gets the requested one", async () => {
    const web = attaching(
      [{ name: "plain", "default-route": ["10.20.0.1"] }],
      [bridgeStep({ isDefaultGateway: false, ipam: dual })],
    );
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.20.0.1 net1 0"], []]);
    await finish(web);
  });

  test("L-07: a CNI_NETNS that is the node's own fails ADD, and the node keeps its default route", async () => {
    const pass = installRecorder(stage.plexus.cniPath, "pass");
    for (const [index, name] of ["eth0", "net1"].entries()) {
      const interfaces = [{ name, sandbox: "/run/netns/pod" }];
      pass.script("ADD", { stdout: JSON.stringify({ cniVersion: "1.0.0", interfaces, ips: [], routes: [] }) }, index + 1);
    }
    manifests.network("passed", [{ type: "pass" }]);
    const ip =
      "link add eth0 type veth peer name br0;link set eth0 up;link set br0 up;addr add 192.0.2.2/24 dev eth0;route add default via 192.0.2.1 dev eth0";
    for (const words of ip.split(";")) expect(stage.node.exec(["ip", ...words.split(" ")]).status).toBe(0);
    const web = { ...attaching([{ name: "passed", "default-route": [] }], [{ type: "pass" }]), pod: stage.node.path };
    const added = await stage.call("ADD", web);
    expect(stage.node.exec(["ip", "route", "show", "default"]).stdout).toMatch(/^default via 192\.0\.2\.1 dev eth0/);
    expect([added.status, added.json]).toMatchObject([1, { code: 4, msg: expect.stringContaining("is the node's own") }]);
  });

  test("MO-10, A-14: an unreachable gateway fails ADD with the network's name, and everything is undone", async () => {
    const web = attaching([{ name: "plain", "default-route": ["203.0.113.1"] }]);
    const added = await stage.call("ADD", web);
    expect([added.status, added.json]).toMatchObject([
      1,
      { msg: expect.stringMatching(/^network shop\/plain as net1: default-route: .*203\.0\.113\.1 dev net1/) },
    ]);
    expect([web.pod.links(), stage.left(), manifests.statusOf("web")]).toEqual([[], nothing, undefined]);
  });
});
