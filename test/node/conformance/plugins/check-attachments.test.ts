// CHECK passes for whole attachments and fails for broken ones, on a kernel.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { type Attaching, nothing, openStage, type Stage } from "../../../lab/stage.ts";
import { missingBuild } from "../../../lab/plexus.ts";

const components = ["bridge-adapter", "macvlan", "static"] as const;
const skip = missing(
  "CHECK on a kernel",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  linkType("macvlan"),
  () => missingBuild({ components: [...components] }),
);

const delegated = { log: {}, delegation: { plugins: ["static"] } };
const grants = {
  "bridge-adapter": { ...delegated, links: { bridges: ["br0"], forwarding: true } },
  macvlan: { ...delegated, links: { parents: ["m0"] } },
  static: { log: {} },
};

describe.skipIf(skip)("CHECK", () => {
  let stage: Stage;
  beforeAll(() => {
    stage = openStage({ components: [...components] });
    for (const command of ["link add br0 type bridge", "link add m0 type veth peer name m1", "link set m0 up", "link set m1 up"])
      stage.node.exec(["ip", ...command.split(" ")]);
  });
  afterAll(() => stage?.dispose());

  const attaching = (plugin: object): Attaching => {
    const pod = stage.pod();
    return { config: stage.network([plugin], { wasm: { grants } }), containerId: pod.name, pod };
  };

  test("a bridge that others made changes its MAC with its ports, and its pods stay whole", async () => {
    const all: Attaching[] = [];
    for (let pods = 0; pods < 3; pods++) {
      const each = attaching({ type: "bridge-adapter", bridge: "br0" });
      await stage.succeed("ADD", each);
      all.push(each);
    }
    const mac = () => stage.node.links().find(({ name }) => name === "br0")?.mac;
    stage.node.exec(["ip", "link", "add", "p0", "address", "02:00:00:00:00:01", "type", "veth", "peer", "name", "p1"]);
    stage.node.exec(["ip", "link", "set", "p0", "master", "br0"]);
    expect(mac()).toBe("02:00:00:00:00:01");
    for (const each of all) await stage.succeed("CHECK", each);
    for (const each of all) await stage.succeed("DEL", each);
    stage.node.exec(["ip", "link", "delete", "p0"]);
  });

  test("routes to one destination over several next hops and networks are all there, as those of the reference plugins", async () => {
    const pod = stage.pod();
    const network = (ifname: string, addresses: readonly object[], routes: readonly object[]): Attaching => {
      const plugin = { type: "macvlan", master: "m0", ipam: { type: "static", addresses, routes } };
      return { config: stage.network([plugin], { wasm: { grants } }), containerId: pod.name, pod, ifname };
    };
    const first = network(
      "eth0",
      [
        { address: "10.82.0.2/24", gateway: "10.82.0.1" },
        { address: "fd00:82::2/64", gateway: "fd00:82::1" },
      ],
      [
        { dst: "0.0.0.0/0" },
        { dst: "198.51.100.0/24", gw: "10.82.0.7" },
        { dst: "198.51.100.0/24", gw: "10.82.0.8" },
        { dst: "fd00:99::/32", gw: "fd00:82::7" },
        { dst: "fd00:99::/32", gw: "fd00:82::8" },
      ],
    );
    const further = network("net1", [{ address: "10.83.0.2/24", gateway: "10.83.0.1" }], [{ dst: "0.0.0.0/0" }]);
    const lines = (family: "-4" | "-6", dst: string): readonly string[] =>
      pod
        .exec(["ip", family, "-oneline", "route", "show", dst])
        .stdout.match(/via \S+ dev \w+/gu)
        ?.map(String) ?? [];
    await stage.succeed("ADD", first);
    await stage.succeed("ADD", further);
    expect(lines("-4", "198.51.100.0/24").toSorted()).toEqual(["via 10.82.0.7 dev eth0", "via 10.82.0.8 dev eth0"]);
    expect(lines("-6", "fd00:99::/32").toSorted()).toEqual(["via fd00:82::7 dev eth0", "via fd00:82::8 dev eth0"]);
    expect(lines("-4", "default")).toEqual(["via 10.83.0.1 dev net1", "via 10.82.0.1 dev eth0"]);
    for (const each of [first, further]) await stage.succeed("CHECK", each);
    await stage.succeed("DEL", further);
    expect(lines("-4", "default")).toEqual(["via 10.82.0.1 dev eth0"]);
    await stage.succeed("CHECK", first);
    await stage.succeed("DEL", first);
  });

  test.each([
    ["bridge-adapter", { type: "bridge-adapter", bridge: "br0", isGateway: true }],
    ["macvlan", { type: "macvlan", master: "m0" }],
  ])("%s: a route of another table does not stand for the result's", async (_, plugin) => {
    const routes = [
      { dst: "198.51.100.0/24", table: 100 },
      { dst: "198.51.100.0/24", priority: 7 },
    ];
    const addresses = [{ address: "10.81.0.2/24", gateway: "10.81.0.1" }];
    const each = attaching({ ...plugin, ipam: { type: "static", addresses, routes } });
    await stage.succeed("ADD", each);
    await stage.succeed("CHECK", each);
    const pod = typeof each.pod === "string" ? stage.node : each.pod;
    expect(pod.exec(["ip", "route", "delete", "198.51.100.0/24", "table", "100"]).status).toBe(0);
    const checked = await stage.call("CHECK", each);
    expect(checked.json?.["msg"]).toContain("198.51.100.0/24");
    expect(checked.status).toBe(1);
    await stage.succeed("DEL", each);
    expect(stage.files()).toEqual({ leases: nothing.leases, state: nothing.state, run: nothing.run });
  });
});
