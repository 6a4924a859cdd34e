// Compares port mappings of the native portmap and of the delegate by real connections in two equal worlds, and the rules
// that each leaves behind.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { compiledPlugin } from "../../../lab/compiled.ts";
import { comparedReleases } from "../../../lab/reference-releases.ts";
import { command, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { type Configuration, configurations, podPorts } from "./configurations.ts";
import { type PluginCall, runNative, withDelegate } from "./plugins.ts";
import { type PlacedProbe, World } from "./world.ts";

const all = configurations();
const probes = all.flatMap((configuration) => configuration.probes);
const grants = { firewall: { hostPorts: ["1-65535"] }, log: {} };
/** Time limits in milliseconds: for all probes at once, for the repetition of differing probes, and for a few probes that are answered. */
const [first, again, few] = [3000, 12_000, 60_000];

const sctpSockets = (): string | undefined =>
  spawnSync(compiledPlugin("sctp")).status === 0 ? undefined : "the kernel has no SCTP sockets (npm run vm has)";

const needs = [privateNamespaces, linkType("bridge"), command("iptables", "-V"), command("nft", "-v")];

function call(verb: PluginCall["verb"], { containerId, config }: Omit<Configuration, "about" | "probes">): PluginCall {
  return { verb, containerId, config };
}

/** The key of an outcome. */
function key(about: string, { from, address }: Pick<PlacedProbe, "from" | "address">): string {
  return `${about}: ${from} asks ${address}`;
}

/** A configuration of the dual-stack pod with one mapping. */
function single(hostPort: number, more: { readonly [key: string]: unknown; readonly protocol?: string } = {}): Configuration {
  const { protocol = "tcp", ...settings } = more;
  const model = all.find(({ about }) => about === "tcp, dual pod, hostIP: none, snat: default");
  if (model === undefined) throw new Error("the configuration for the dual-stack pod does not exist");
  const mapping = { hostPort, containerPort: protocol === "udp" ? podPorts.udp[0] : podPorts.tcp[0], protocol };
  const config = { ...model.config, ...settings, runtimeConfig: { portMappings: [mapping] } };
  return { containerId: `single-${hostPort}`, about: "", probes: [], config };
}

describe.each(comparedReleases)("reference plugins $release", (reference) => {
  describe.skipIf(missing("traffic of port mappings", ...needs, reference.requires("portmap")))("the delegate portmap", () => {
    const binary = reference.plugin("portmap") ?? "";
    let shop: Workshop;
    let delegateWorld: World;
    let nativeWorld: World;
    /** The outcomes of the probes with the delegate's rules, by `key`. */
    const outcomes = new Map<string, { readonly probe: PlacedProbe; readonly outcome: string }>();
    /** Returns a probe's outcome. Repeats the probe alone if it differs from `wanted`: among thousands an answer may be late. */
    const outcomeOf = async (about: string, probed: Pick<PlacedProbe, "from" | "address">, expected: string): Promise<string> => {
      const seen = outcomes.get(key(about, probed));
      if (seen === undefined || seen.outcome === expected) return seen?.outcome ?? "not probed";
      return (await delegateWorld.probe([seen.probe], few))[0] ?? "";
    };

    beforeAll(async () => {
      shop = await openWorkshop();
      [delegateWorld, nativeWorld] = [new World("plexus"), new World("native")];
      await Promise.all([delegateWorld, nativeWorld].map((world) => world.serve("pod", podPorts)));
    });
    afterAll(() => {
      delegateWorld.dispose();
      nativeWorld.dispose();
      shop.dispose();
    });

    test(
      `has the same outcome as the native portmap for each connection, in ${all.length} configurations`,
      { timeout: 180_000 },
      async () => {
        expect(all.length).toBeGreaterThanOrEqual(120);
        const adding = runNative(
          nativeWorld,
          binary,
          all.map((each) => call("ADD", each)),
          2,
        );
        await withDelegate(shop, delegateWorld, grants, async (plugin) => {
          for (const each of all)
            expect(await plugin(call("ADD", each))).toMatchObject({ status: 0, stdout: expect.not.stringContaining(`"msg"`) });
          for (const each of all) expect(await plugin(call("CHECK", each))).toEqual({ status: 0, stdout: "" });
        });
        // Two native calls at once may fail on a busy machine: their iptables commands race. Failed calls are repeated alone.
        const failed = [...(await adding).entries()].filter(([, { status }]) => status !== 0);
        for (const [index, answer] of failed) {
          const repeated = all.slice(index, index + 1).flatMap((each) => [call("DEL", each), call("ADD", each)]);
          const answers = await runNative(nativeWorld, binary, repeated, 1);
          expect(answers, `the native portmap failed twice, first with ${answer.stdout}`).toMatchObject([
            { status: 0 },
            { status: 0 },
          ]);
        }
        const both = (probed: readonly PlacedProbe[], time: number): Promise<readonly (readonly string[])[]> =>
          Promise.all([delegateWorld, nativeWorld].map((world) => world.probe(probed, time)));
        const [delegateOutcomes = [], nativeOutcomes = []] = await both(probes, first);
        let apart = probes.flatMap((probe, at) =>
          delegateOutcomes[at] === nativeOutcomes[at]
            ? []
            : [{ probe, delegateWorld: delegateOutcomes[at], nativeWorld: nativeOutcomes[at] }],
        );
        // On a busy machine an answer may be late or lost. A difference of the rules shows in every repetition.
        for (let tries = 0; tries < 3 && apart.length > 0; tries++) {
          const probed = apart.map(({ probe }) => probe);
          const [one = [], other = []] = await both(probed, again);
          apart = probed.flatMap((probe, at) =>
            one[at] === other[at] ? [] : [{ probe, delegateWorld: one[at], nativeWorld: other[at] }],
          );
        }
        expect(apart).toEqual([]);
        let index = 0;
        for (const { about, probes: configurationProbes } of all)
          for (const probe of configurationProbes)
            outcomes.set(key(about, probe), { probe, outcome: delegateOutcomes[index++] ?? "" });
      },
    );

    // The expected outcome is the source address that the pod sees, and the pod's port.
    test.each([
      ["a client outside keeps its address", "tcp, dual pod, hostIP: none", "outside", "192.0.2.1", "192.0.2.2 80"],
      ["a client outside keeps its IPv6 address", "tcp, dual pod, hostIP: none", "outside", "2001:db8::1", "2001:db8::2 80"],
      ["a client outside keeps its address with UDP", "udp, dual pod, hostIP: none", "outside", "192.0.2.3", "192.0.2.2 53"],
      [
        "a client outside keeps its address with UDP over IPv6",
        "udp, dual pod, hostIP: none",
        "outside",
        "2001:db8::3",
        "2001:db8::2 53",
      ],
      ["the node reaches the pod by the node's address", "tcp, dual pod, hostIP: none", "node", "192.0.2.1", "192.0.2.1 80"],
      ["the node reaches the pod by 127.0.0.1", "tcp, dual pod, hostIP: none", "node", "127.0.0.1", "10.1.0.1 80"],
      ["the node reaches the pod by 127.0.0.1 with UDP", "udp, dual pod, hostIP: none", "node", "127.0.0.1", "10.1.0.1 53"],
      ["the node does not reach the pod by ::1", "tcp, dual pod, hostIP: none", "node", "::1", ""],
      ["the pod reaches itself by the node's address", "tcp, dual pod, hostIP: none", "pod", "192.0.2.1", "10.1.0.1 80"],
      ["the pod reaches itself by the bridge's IPv6 address", "tcp, dual pod, hostIP: none", "pod", "fd00:1::1", "fd00:1::1 80"],
      [
        "the pod's neighbour reaches the pod by the bridge's address",
        "tcp, dual pod, hostIP: none",
        "neighbour",
        "10.1.0.1",
        "10.1.0.1 80",
      ],
      ["hostIP is reachable", "tcp, dual pod, hostIP: an IPv4 address", "outside", "192.0.2.1", "192.0.2.2 80"],
      [
        "another address of hostIP's family is not reachable",
        "tcp, dual pod, hostIP: an IPv4 address",
        "outside",
        "192.0.2.3",
        "",
      ],
      [
        "an address of the other family than hostIP is not reachable",
        "tcp, dual pod, hostIP: an IPv4 address",
        "outside",
        "2001:db8::1",
        "",
      ],
      ["an IPv6 hostIP is reachable", "tcp, dual pod, hostIP: an IPv6 address", "outside", "2001:db8::1", "2001:db8::2 80"],
      ["the node reaches a hostIP of 127.0.0.1", "tcp, dual pod, hostIP: loopback", "node", "127.0.0.1", "10.1.0.1 80"],
      [
        "a client outside does not reach a mapping with hostIP 127.0.0.1",
        "tcp, dual pod, hostIP: loopback",
        "outside",
        "192.0.2.1",
        "",
      ],
      ["hostIP 0.0.0.0 means every IPv4 address", "tcp, dual pod, hostIP: 0.0.0.0", "outside", "192.0.2.3", "192.0.2.2 80"],
      ["hostIP 0.0.0.0 includes no IPv6 address", "tcp, dual pod, hostIP: 0.0.0.0", "outside", "2001:db8::1", ""],
    ] as const)("%s", async (_what, about, from, address, outcome) => {
      expect(await outcomeOf(`${about}, snat: default`, { from, address }, outcome)).toBe(outcome);
    });

    test.each([
      ["lets connections to that address through", "conditions 0", "192.0.2.1", "192.0.2.2 80"],
      ["blocks connections to another address", "conditions 0", "192.0.2.3", ""],
      ["blocks connections to a hostIP that differs", "conditions 3", "192.0.2.3", ""],
      ["blocks connections to that address if hostIP differs", "conditions 3", "192.0.2.1", ""],
    ] as const)("a condition on the destination address %s", async (_what, about, address, outcome) => {
      expect(await outcomeOf(about, { from: "outside", address }, outcome)).toBe(outcome);
    });

    test.each([
      ["! -d", "the address in it", "conditions 4", "outside", "192.0.2.1", ""],
      ["! -d", "another address", "conditions 4", "outside", "192.0.2.3", "192.0.2.2 80"],
      ["! -d for IPv6", "the address in it", "conditions 4", "outside", "2001:db8::1", ""],
      ["! -d for IPv6", "another address", "conditions 4", "outside", "2001:db8::3", "2001:db8::2 80"],
      ["! -s", "a client in it", "conditions 5", "outside", "192.0.2.1", ""],
      ["! -s", "another client", "conditions 5", "neighbour", "192.0.2.1", "10.1.0.1 80"],
      ["! -s for IPv6", "a client in it", "conditions 5", "neighbour", "2001:db8::1", ""],
      ["-d with a network", "an address in it", "conditions 6", "outside", "192.0.2.1", "192.0.2.2 80"],
      ["-d with a network", "another address", "conditions 6", "outside", "192.0.2.3", ""],
      ["-d with a network and ! -s", "a client in the latter", "conditions 6", "neighbour", "192.0.2.1", ""],
    ] as const)("FI-23: the condition %s decides about %s", async (_condition, _packet, about, from, address, outcome) => {
      expect(await outcomeOf(about, { from, address }, outcome)).toBe(outcome);
    });

    test.each([
      ["a client outside keeps its address", "outside", "192.0.2.1", "192.0.2.2 80"],
      ["127.0.0.1 is not answered", "node", "127.0.0.1", ""],
      ["the pod does not reach itself by the node's address", "pod", "192.0.2.1", ""],
    ] as const)("without snat, %s", async (_what, from, address, outcome) => {
      const about = "tcp, dual pod, hostIP: none, snat: off";
      expect(await outcomeOf(about, { from, address }, outcome)).toBe(outcome);
    });

    test("masquerades every connection with masqAll, as an address of the node", async () => {
      const ports = { protocol: "tcp", port: 9001 } as const;
      await withDelegate(shop, delegateWorld, grants, async (plugin) => {
        expect(await plugin(call("ADD", single(9001, { masqAll: true })))).toMatchObject({ status: 0 });
      });
      const seen = await delegateWorld.probe(
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

    test("maps a UDP flow that began before the mapping", async () => {
      const probe = { from: "outside", protocol: "udp", address: "192.0.2.1", port: 9002, localPort: 40_000 } as const;
      expect(await delegateWorld.probe([probe], 500)).toEqual([""]);
      await withDelegate(shop, delegateWorld, grants, async (plugin) => {
        expect(await plugin(call("ADD", single(9002, { protocol: "udp" })))).toMatchObject({ status: 0 });
      });
      expect(await delegateWorld.probe([probe], few)).toEqual(["192.0.2.2 53"]);
    });

    test("makes a rule for an SCTP port", async () => {
      await withDelegate(shop, delegateWorld, grants, async (plugin) => {
        expect(await plugin(call("ADD", single(9003, { protocol: "sctp" })))).toMatchObject({ status: 0 });
        expect(await plugin(call("CHECK", single(9003, { protocol: "sctp" })))).toEqual({ status: 0, stdout: "" });
      });
      const listed = delegateWorld.node.exec([
        "nft",
        "list",
        "chain",
        "ip",
        "plexus",
        "ports/portmap/pods/single-9003/eth0",
      ]).stdout;
      expect(listed).toContain("sctp dport 9003 dnat to 10.1.0.5:80");
    });

    test.skipIf(missing("SCTP through a mapping", sctpSockets))("maps SCTP connections of both families", async () => {
      const program = compiledPlugin("sctp");
      const server = spawn("nsenter", [`--net=${delegateWorld.pod.path}`, program, "serve", String(podPorts.tcp[0])], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await once(server.stdout, "data");
        await withDelegate(shop, delegateWorld, grants, async (plugin) => {
          expect(await plugin(call("ADD", single(9003, { protocol: "sctp" })))).toMatchObject({ status: 0 });
        });
        const seen = (address: string): string =>
          delegateWorld.at("outside").exec([program, "ask", address, "9003"]).stdout.trim();
        expect([seen("192.0.2.1"), seen("2001:db8::1")]).toEqual(["::ffff:192.0.2.2", "2001:db8::2"]);
      } finally {
        server.kill("SIGKILL");
      }
    });

    test("blocks neighbours from the node's 127.0.0.0/8 although route_localnet is on", async () => {
      const setting = delegateWorld.node.exec(["cat", "/proc/sys/net/ipv4/conf/br0/route_localnet"]).stdout.trim();
      expect(setting).toBe("1");
      await delegateWorld.serve("node", { tcp: [7000], udp: [] });
      const probe = { from: "neighbour", protocol: "tcp", address: "127.0.0.2", port: 7000 } as const;
      const neighbour = delegateWorld.at("neighbour");
      // The neighbour routes packets for 127.0.0.2 to the node.
      const set =
        "ip address del 127.0.0.1/8 dev lo; echo 1 >/proc/sys/net/ipv4/conf/eth0/route_localnet; ip route add 127.0.0.2 via 10.1.0.1";
      expect(neighbour.exec(["sh", "-c", set])).toMatchObject({ stderr: "" });
      expect(await delegateWorld.probe([probe], 1500)).toEqual([""]);
      // Without the guard rule the connection succeeds.
      delegateWorld.node.exec(["nft", "flush", "chain", "ip", "plexus", "guard"]);
      expect(await delegateWorld.probe([probe], few)).toEqual(["10.1.0.6 7000"]);
      await withDelegate(shop, delegateWorld, grants, async (plugin) => {
        expect(await plugin(call("CHECK", single(9001, { masqAll: true })))).toMatchObject({ status: 1 });
        expect(await plugin(call("ADD", single(9001, { masqAll: true })))).toMatchObject({ status: 0 });
      });
    });

    test("removes on DEL the rules of the native plugin's ADD, which ends all its mappings", async () => {
      const before = nativeWorld.node.exec(["nft", "list", "ruleset"]).stdout;
      expect(before.match(/chain CNI-DN-/g)?.length).toBeGreaterThan(all.length / 2);
      await withDelegate(shop, nativeWorld, grants, async (plugin) => {
        const deleted = await Promise.all(all.map((each) => plugin(call("DEL", each))));
        expect(deleted.filter(({ status }) => status !== 0)).toEqual([]);
      });
      const after = nativeWorld.node.exec(["nft", "list", "ruleset"]).stdout;
      expect(after).not.toContain("CNI-DN-");
      expect(after).not.toContain("dnat to");
      const open = probes.filter(
        ({ from, address, protocol }) => from === "outside" && address === "192.0.2.1" && protocol === "tcp",
      );
      expect(new Set(await nativeWorld.probe(open, first))).toEqual(new Set([""]));
    });

    test("removes by DEL or GC its rules that the native plugin's DEL left behind", async () => {
      const [one, two, ...others] = all;
      if (one === undefined || two === undefined) throw new Error("no configurations");
      const deleted = await runNative(delegateWorld, binary, [call("DEL", one), call("DEL", two)], 1);
      expect(deleted.map(({ status }) => status)).toEqual([0, 0]);
      const rules = (): string => delegateWorld.node.exec(["nft", "list", "ruleset"]).stdout;
      const chains = ({ containerId }: Configuration): number => rules().split(`portmap/pods/${containerId}/eth0 {`).length - 1;
      expect(chains(one)).toBeGreaterThan(0);
      await withDelegate(shop, delegateWorld, grants, async (plugin) => {
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
});
