// default-route (NPWG 4.1.2.1.9): what `ip route` shows in the pod, what the runtime is answered, what the cache holds and what the
// status says agree; through the installed binary, with the reference plugins.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { installRecorder } from "../harness/recorder.ts";
import { manifestsIn, type Manifests } from "./manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "./mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "./stage.ts";

type Pod = ReturnType<Stage["pod"]>;
interface Route {
  readonly dst: string;
  readonly gateway?: string;
  readonly dev?: string;
  readonly metric?: number;
}
interface Routed {
  readonly dst: string;
  readonly gw?: string;
  readonly priority?: number;
}

const everywhere = new Set(["default", "0.0.0.0/0", "::/0"]);

/** The pod's default routes as `ip` shows them: gateway, link and metric. */
function defaults(pod: Pod, family: 4 | 6): readonly string[] {
  const shown = pod.exec(["ip", "-json", `-${family}`, "route", "show", "default"]);
  expect(shown.status).toBe(0);
  const routes = JSON.parse(shown.stdout === "" ? "[]" : shown.stdout) as readonly Route[];
  return routes
    .filter(({ dst }) => everywhere.has(dst))
    .map(({ gateway = "-", dev = "-", metric = 0 }) => `${gateway} ${dev} ${metric}`);
}

/** The gateways of a result's default routes. */
function gateways(result: unknown): readonly (string | undefined)[] {
  const { routes = [] } = (result ?? {}) as { readonly routes?: readonly Routed[] };
  return routes.filter(({ dst }) => everywhere.has(dst)).map(({ gw }) => gw);
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
  /** CHECK and DEL work with what ADD left. */
  const finish = async (web: Attaching & { readonly pod: Pod }): Promise<void> => {
    await stage.succeed("CHECK", web);
    await stage.succeed("DEL", web);
    expect([web.pod.links(), stage.left()]).toEqual([[], nothing]);
  };

  test("N11-17: without the key they are the default network's, though another network would have some", async () => {
    const web = attaching("plain");
    const added = await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.10.0.1 eth0 0"], ["fd00:10::1 eth0 1024"]]);
    expect(gateways(added.json)).toEqual(["10.10.0.1", "fd00:10::1"]);
    expect(manifests.statusOf("web")).toMatchObject([{ gateway: ["10.10.0.1", "fd00:10::1"] }, {}]);
    await finish(web);
  });

  test("N11-14, N11-16: a gateway of version 4 takes over version 4 and leaves version 6 alone", async () => {
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

  test("N11-14: a gateway of version 6 takes over version 6 alone, and gateways of both take over both", async () => {
    for (const [asked, four, six] of [
      [["fd00:20::1"], "10.10.0.1 eth0 0", "fd00:20::1 net1 1024"],
      [["fd00:20::1", "10.20.0.1"], "10.20.0.1 net1 0", "fd00:20::1 net1 1024"],
    ] as const) {
      const web = attaching([{ name: "plain", "default-route": asked }]);
      await stage.succeed("ADD", web);
      expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([[four], [six]]);
      await finish(web);
    }
  });

  test("N11-14: an empty list leaves the chosen network the routes that its plugins made, and takes the others'", async () => {
    // Without a default network's own route, so that the plugins of both can make theirs.
    const web = attaching([{ name: "routed", "default-route": [] }], [bridgeStep({ isDefaultGateway: false, ipam: dual })]);
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.20.0.1 net1 0"], ["fd00:20::1 net1 1024"]]);
    expect(gateways(cached("routed", "net1"))).toHaveLength(2);
    expect(manifests.statusOf("web")).toMatchObject([{}, { "default-route": ["10.20.0.1", "fd00:20::1"] }]);
    await finish(web);
  });

  test("N11-14: an empty list on a network without default routes leaves the pod none at all", async () => {
    const web = attaching([{ name: "plain", "default-route": [] }]);
    const added = await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6), gateways(added.json)]).toEqual([[], [], []]);
    await finish(web);
  });

  test("N11-14: routes of every kind that leads somewhere go: with metric, on-link, without gateway, over several links", async () => {
    // A plugin of the default network that makes them, and two that stay: of another table, and one that leads nowhere.
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

  test("N11-15: of two gateways the first is preferred, by their metrics", async () => {
    const web = attaching([{ name: "plain", "default-route": ["10.20.0.7", "10.20.0.1", "fd00:20::7", "fd00:20::1"] }]);
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([
      ["10.20.0.7 net1 0", "10.20.0.1 net1 1"],
      ["fd00:20::7 net1 1024", "fd00:20::1 net1 1025"],
    ]);
    expect(gateways(cached("plain", "net1"))).toEqual(["10.20.0.7", "10.20.0.1", "fd00:20::7", "fd00:20::1"]);
    await finish(web);
  });

  test("D-8: two networks may have one family each, for Multus' users", async () => {
    const web = attaching([
      { name: "plain", "default-route": ["10.20.0.1"] },
      { name: "plain", "default-route": ["fd00:20::1"] },
    ]);
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.20.0.1 net1 0"], ["fd00:20::1 net2 1024"]]);
    await finish(web);
  });

  test("A-14: where there is no default route, the one that is asked for comes", async () => {
    const web = attaching(
      [{ name: "plain", "default-route": ["10.20.0.1"] }],
      [bridgeStep({ isDefaultGateway: false, ipam: dual })],
    );
    await stage.succeed("ADD", web);
    expect([defaults(web.pod, 4), defaults(web.pod, 6)]).toEqual([["10.20.0.1 net1 0"], []]);
    await finish(web);
  });

  test("MO-10, A-14: a gateway that nothing reaches fails the pod, the network named, and everything is undone", async () => {
    const web = attaching([{ name: "plain", "default-route": ["203.0.113.1"] }]);
    const added = await stage.call("ADD", web);
    expect([added.status, added.json]).toMatchObject([
      1,
      { msg: expect.stringMatching(/^network shop\/plain as net1: default-route: .*203\.0\.113\.1 dev net1/) },
    ]);
    expect([web.pod.links(), stage.left(), manifests.statusOf("web")]).toEqual([[], nothing, undefined]);
  });
});
