// Port mappings with real connections: the same by the native portmap and by ours, in two worlds alike; and what either leaves behind.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWorkshop, type Workshop } from "../../../host/hands/testing/workshop.ts";
import { compiledPlugin } from "../../harness/compiled.ts";
import { command, linkType, missing, privateNamespaces, referencePlugins } from "../../harness/requires.ts";
import { type Configuration, configurations, podPorts } from "./configurations.ts";
import { type PluginCall, runNative, withOurs } from "./plugins.ts";
import { type PlacedProbe, World } from "./world.ts";

const all = configurations();
const probes = all.flatMap((configuration) => configuration.probes);
const grants = { firewall: { hostPorts: ["1-65535"] }, log: {} };
/** Milliseconds for all probes at once, for those again that differ, and for a few. */
const [first, again, few] = [3000, 12_000, 5000];

const sctpSockets = (): string | undefined =>
  spawnSync(compiledPlugin("sctp")).status === 0 ? undefined : "the kernel has no SCTP sockets (npm run vm has)";

const needs = missing(
  "port mappings' traffic",
  privateNamespaces,
  linkType("bridge"),
  referencePlugins("portmap"),
  command("iptables", "-V"),
  command("nft", "-v"),
);

function call(verb: PluginCall["verb"], { containerId, config }: Omit<Configuration, "about" | "probes">): PluginCall {
  return { verb, containerId, config };
}

/** Under which an outcome is kept. */
function key(about: string, { from, address }: Pick<PlacedProbe, "from" | "address">): string {
  return `${about}: ${from} asks ${address}`;
}

/** A configuration with one mapping, of the dual-stack pod. */
function single(hostPort: number, more: { readonly [key: string]: unknown; readonly protocol?: string } = {}): Configuration {
  const { protocol = "tcp", ...settings } = more;
  const model = all.find(({ about }) => about === "tcp, a pod of dual, hostIP: none, snat: default");
  if (model === undefined) throw new Error("no such configuration");
  const mapping = { hostPort, containerPort: protocol === "udp" ? podPorts.udp[0] : podPorts.tcp[0], protocol };
  const config = { ...model.config, ...settings, runtimeConfig: { portMappings: [mapping] } };
  return { containerId: `single-${hostPort}`, about: "", probes: [], config };
}

describe.skipIf(needs)("portmap beside the native one", () => {
  let shop: Workshop;
  let ours: World;
  let native: World;
  /** What ours lets through: by configuration, place and address. */
  const outcomes = new Map<string, { readonly probe: PlacedProbe; readonly outcome: string }>();
  /** Again where it isn't what is wanted, by itself: among thousands an answer may come late. */
  const outcomeOf = async (about: string, asked: Pick<PlacedProbe, "from" | "address">, wanted: string): Promise<string> => {
    const seen = outcomes.get(key(about, asked));
    if (seen === undefined || seen.outcome === wanted) return seen?.outcome ?? "not probed";
    return (await ours.probe([seen.probe], few))[0] ?? "";
  };

  beforeAll(async () => {
    shop = await openWorkshop();
    [ours, native] = [new World("ours"), new World("native")];
    await Promise.all([ours, native].map((world) => world.serve("pod", podPorts)));
  });
  afterAll(() => {
    ours.dispose();
    native.dispose();
    shop.dispose();
  });

  test(`has the same outcome for each connection, in ${all.length} configurations`, { timeout: 180_000 }, async () => {
    expect(all.length).toBeGreaterThanOrEqual(120);
    const adding = runNative(
      native,
      all.map((each) => call("ADD", each)),
      2,
    );
    await withOurs(shop, ours, grants, async (plugin) => {
      for (const each of all) expect(await plugin(call("ADD", each))).toMatchObject({ status: 0 });
      for (const each of all) expect(await plugin(call("CHECK", each))).toEqual({ status: 0, stdout: "" });
    });
    expect((await adding).filter(({ status }) => status !== 0)).toEqual([]);
    const both = (asked: readonly PlacedProbe[], time: number): Promise<readonly (readonly string[])[]> =>
      Promise.all([ours, native].map((world) => world.probe(asked, time)));
    const [mine = [], theirs = []] = await both(probes, first);
    let apart = probes.flatMap((probe, at) => (mine[at] === theirs[at] ? [] : [{ probe, ours: mine[at], native: theirs[at] }]));
    // Where the machine is busy an answer comes late or gets lost. What the rules differ in, they differ in each time.
    for (let tries = 0; tries < 3 && apart.length > 0; tries++) {
      const asked = apart.map(({ probe }) => probe);
      const [one = [], other = []] = await both(asked, again);
      apart = asked.flatMap((probe, at) => (one[at] === other[at] ? [] : [{ probe, ours: one[at], native: other[at] }]));
    }
    expect(apart).toEqual([]);
    let index = 0;
    for (const { about, probes: own } of all)
      for (const probe of own) outcomes.set(key(about, probe), { probe, outcome: mine[index++] ?? "" });
  });

  // What the pod sees: the address that a connection comes from, and its own port.
  test.each([
    ["a client outside keeps its address", "tcp, a pod of dual, hostIP: none", "outside", "192.0.2.1", "192.0.2.2 80"],
    ["so it does with IPv6", "tcp, a pod of dual, hostIP: none", "outside", "2001:db8::1", "2001:db8::2 80"],
    ["and with UDP", "udp, a pod of dual, hostIP: none", "outside", "192.0.2.3", "192.0.2.2 53"],
    ["and with UDP over IPv6", "udp, a pod of dual, hostIP: none", "outside", "2001:db8::3", "2001:db8::2 53"],
    ["the node reaches it by its own address", "tcp, a pod of dual, hostIP: none", "node", "192.0.2.1", "192.0.2.1 80"],
    ["the node reaches it by 127.0.0.1", "tcp, a pod of dual, hostIP: none", "node", "127.0.0.1", "10.1.0.1 80"],
    ["UDP too", "udp, a pod of dual, hostIP: none", "node", "127.0.0.1", "10.1.0.1 53"],
    ["not by ::1", "tcp, a pod of dual, hostIP: none", "node", "::1", ""],
    ["the pod reaches itself by the node", "tcp, a pod of dual, hostIP: none", "pod", "192.0.2.1", "10.1.0.1 80"],
    ["with IPv6 as well", "tcp, a pod of dual, hostIP: none", "pod", "fd00:1::1", "fd00:1::1 80"],
    ["its neighbour reaches it by the node", "tcp, a pod of dual, hostIP: none", "neighbour", "10.1.0.1", "10.1.0.1 80"],
    ["hostIP is the only address", "tcp, a pod of dual, hostIP: one of v4", "outside", "192.0.2.1", "192.0.2.2 80"],
    ["no other one of the family", "tcp, a pod of dual, hostIP: one of v4", "outside", "192.0.2.3", ""],
    ["no other family", "tcp, a pod of dual, hostIP: one of v4", "outside", "2001:db8::1", ""],
    ["hostIP may be of IPv6", "tcp, a pod of dual, hostIP: one of v6", "outside", "2001:db8::1", "2001:db8::2 80"],
    ["127.0.0.1 is for the node only", "tcp, a pod of dual, hostIP: loopback", "node", "127.0.0.1", "10.1.0.1 80"],
    ["not for others", "tcp, a pod of dual, hostIP: loopback", "outside", "192.0.2.1", ""],
    ["zeros are any address of the family", "tcp, a pod of dual, hostIP: zeros of v4", "outside", "192.0.2.3", "192.0.2.2 80"],
    ["of that family alone", "tcp, a pod of dual, hostIP: zeros of v4", "outside", "2001:db8::1", ""],
  ] as const)("%s", async (_what, about, from, address, outcome) => {
    expect(await outcomeOf(`${about}, snat: default`, { from, address }, outcome)).toBe(outcome);
  });

  test.each([
    ["a client outside keeps its address", "outside", "192.0.2.1", "192.0.2.2 80"],
    ["127.0.0.1 is not answered", "node", "127.0.0.1", ""],
    ["nor is the pod by the node", "pod", "192.0.2.1", ""],
  ] as const)("without snat, %s", async (_what, from, address, outcome) => {
    const about = "tcp, a pod of dual, hostIP: none, snat: off";
    expect(await outcomeOf(about, { from, address }, outcome)).toBe(outcome);
  });

  test("masquerades all with masqAll, one of the node's addresses each", async () => {
    const ports = { protocol: "tcp", port: 9001 } as const;
    await withOurs(shop, ours, grants, async (plugin) => {
      expect(await plugin(call("ADD", single(9001, { masqAll: true })))).toMatchObject({ status: 0 });
    });
    const seen = await ours.probe(
      [
        { from: "outside", address: "192.0.2.1", ...ports },
        { from: "outside", address: "2001:db8::1", ...ports },
        { from: "neighbour", address: "192.0.2.3", ...ports },
        { from: "node", address: "127.0.0.1", ...ports },
      ],
      few,
    );
    expect(seen).toEqual(["10.1.0.1 80", "fd00:1::1 80", "10.1.0.1 80", "10.1.0.1 80"]);
  });

  test("reaches a flow of UDP that began before the mapping", async () => {
    const probe = { from: "outside", protocol: "udp", address: "192.0.2.1", port: 9002, localPort: 40_000 } as const;
    expect(await ours.probe([probe], 500)).toEqual([""]);
    await withOurs(shop, ours, grants, async (plugin) => {
      expect(await plugin(call("ADD", single(9002, { protocol: "udp" })))).toMatchObject({ status: 0 });
    });
    expect(await ours.probe([probe], few)).toEqual(["192.0.2.2 53"]);
  });

  test("maps ports of SCTP", async () => {
    await withOurs(shop, ours, grants, async (plugin) => {
      expect(await plugin(call("ADD", single(9003, { protocol: "sctp" })))).toMatchObject({ status: 0 });
      expect(await plugin(call("CHECK", single(9003, { protocol: "sctp" })))).toEqual({ status: 0, stdout: "" });
    });
    const listed = ours.node.exec(["nft", "list", "chain", "ip", "plexus", "ports/portmap/pods/single-9003/eth0"]).stdout;
    expect(listed).toContain("sctp dport 9003 dnat to 10.1.0.5:80");
  });

  test.skipIf(missing("SCTP through a mapping", sctpSockets))("carries SCTP, of both families", async () => {
    const program = compiledPlugin("sctp");
    const server = spawn("nsenter", [`--net=${ours.pod.path}`, program, "serve", String(podPorts.tcp[0])], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(server.stdout, "data");
      await withOurs(shop, ours, grants, async (plugin) => {
        expect(await plugin(call("ADD", single(9003, { protocol: "sctp" })))).toMatchObject({ status: 0 });
      });
      const seen = (address: string): string => ours.at("outside").exec([program, "ask", address, "9003"]).stdout.trim();
      expect([seen("192.0.2.1"), seen("2001:db8::1")]).toEqual(["::ffff:192.0.2.2", "2001:db8::2"]);
    } finally {
      server.kill("SIGKILL");
    }
  });

  test("does not let neighbours reach the node's own 127.0.0.1, though route_localnet is on", async () => {
    const setting = ours.node.exec(["cat", "/proc/sys/net/ipv4/conf/br0/route_localnet"]).stdout.trim();
    expect(setting).toBe("1");
    await ours.serve("node", { tcp: [7000], udp: [] });
    const probe = { from: "neighbour", protocol: "tcp", address: "127.0.0.2", port: 7000 } as const;
    const neighbour = ours.at("neighbour");
    // The neighbour sends what is for 127.0.0.2 to the node.
    const set =
      "ip address del 127.0.0.1/8 dev lo; echo 1 >/proc/sys/net/ipv4/conf/eth0/route_localnet; ip route add 127.0.0.2 via 10.1.0.1";
    expect(neighbour.exec(["sh", "-c", set])).toMatchObject({ stderr: "" });
    expect(await ours.probe([probe], 1500)).toEqual([""]);
    // Without the rule it would come through.
    ours.node.exec(["nft", "flush", "chain", "ip", "plexus", "guard"]);
    expect(await ours.probe([probe], few)).toEqual(["10.1.0.6 7000"]);
    await withOurs(shop, ours, grants, async (plugin) => {
      expect(await plugin(call("CHECK", single(9001, { masqAll: true })))).toMatchObject({ status: 1 });
      expect(await plugin(call("ADD", single(9001, { masqAll: true })))).toMatchObject({ status: 0 });
    });
  });

  test("removes on DEL what the native plugin's ADD made, and then nothing comes through", { timeout: 120_000 }, async () => {
    const before = native.node.exec(["nft", "list", "ruleset"]).stdout;
    expect(before.match(/chain CNI-DN-/g)?.length).toBeGreaterThan(all.length / 2);
    await withOurs(shop, native, grants, async (plugin) => {
      const deleted = await Promise.all(all.map((each) => plugin(call("DEL", each))));
      expect(deleted.filter(({ status }) => status !== 0)).toEqual([]);
    });
    const after = native.node.exec(["nft", "list", "ruleset"]).stdout;
    expect(after).not.toContain("CNI-DN-");
    expect(after).not.toContain("dnat to");
    const open = probes.filter(
      ({ from, address, protocol }) => from === "outside" && address === "192.0.2.1" && protocol === "tcp",
    );
    expect(new Set(await native.probe(open, first))).toEqual(new Set([""]));
  });

  test("what the native plugin's DEL leaves of ours is removed by GC, or by our DEL", { timeout: 60_000 }, async () => {
    const [one, two, ...others] = all;
    if (one === undefined || two === undefined) throw new Error("no configurations");
    const deleted = await runNative(ours, [call("DEL", one), call("DEL", two)], 1);
    expect(deleted.map(({ status }) => status)).toEqual([0, 0]);
    const rules = (): string => ours.node.exec(["nft", "list", "ruleset"]).stdout;
    const chains = ({ containerId }: Configuration): number => rules().split(`portmap/pods/${containerId}/eth0 {`).length - 1;
    expect(chains(one)).toBeGreaterThan(0);
    await withOurs(shop, ours, grants, async (plugin) => {
      expect(await plugin(call("DEL", one))).toEqual({ status: 0, stdout: "" });
      expect(chains(one)).toBe(0);
      const valid = others.map(({ containerId }) => ({ containerID: containerId, ifname: "eth0" }));
      const config = { cniVersion: "1.1.0", name: "pods", type: "portmap", "cni.dev/valid-attachments": valid };
      expect(await plugin({ verb: "GC", containerId: "", config })).toEqual({ status: 0, stdout: "" });
      expect(chains(two)).toBe(0);
      for (const each of others) expect(await plugin(call("CHECK", each))).toEqual({ status: 0, stdout: "" });
      const nobody = { ...config, "cni.dev/valid-attachments": [] };
      expect(await plugin({ verb: "GC", containerId: "", config: nobody })).toEqual({ status: 0, stdout: "" });
      expect(rules()).not.toContain("portmap/pods");
    });
  });
});
