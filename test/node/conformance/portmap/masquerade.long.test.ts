// Compares the masquerading of the native bridge plugin (ipMasq) with the firewall capability's. Two equal worlds have the
// same pods; the test makes the same connections and compares the source addresses that the peers see.

import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firewallFor, type FirewallScope } from "../../../../host/capabilities/firewall/scope.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { createPodNamespace, type PodNamespace } from "../../../lab/namespaces.ts";
import { referenceReleases } from "../../../lab/reference-releases.ts";
import { command, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { withShim } from "./plugins.ts";
import type { Probe } from "./sockets.ts";
import { probeIn, runIn, World } from "./world.ts";

const needs = [privateNamespaces, linkType("bridge"), command("iptables", "-V"), command("nft", "-v")];

interface Case {
  readonly containerId: string;
  readonly ipMasq: boolean;
  readonly addresses: readonly string[];
}

/** Pods of each family, with and without masquerading, in the neighbour's network or in another. */
const cases: readonly Case[] = [true, false].flatMap((ipMasq) =>
  [["v4", "v6"], ["v4", "v6", "apart"], ...(ipMasq ? [["v4"], ["v6"]] : [])].map((kinds, place): Case => {
    const last = (ipMasq ? 20 : 30) + place;
    const [four, six] = kinds.includes("apart") ? ["10.1.1.", "fd00:2::"] : ["10.1.0.", "fd00:1::"];
    return {
      containerId: `masquerade-${last}`,
      ipMasq,
      addresses: [...(kinds.includes("v4") ? [`${four}${last}/24`] : []), ...(kinds.includes("v6") ? [`${six}${last}/64`] : [])],
    };
  }),
);

const ports = { tcp: [80], udp: [53] } as const;
const peers = ["192.0.2.2", "2001:db8::2", "10.1.0.6", "fd00:1::6"] as const;
/** The node's addresses, probed by TCP only: the node may answer UDP from another of its addresses. */
const nodeAddresses = ["192.0.2.1", "2001:db8::1"] as const;
const probes: readonly Probe[] = [
  ...[...peers, ...nodeAddresses].map((address): Probe => ({ protocol: "tcp", address, port: ports.tcp[0] })),
  ...peers.map((address): Probe => ({ protocol: "udp", address, port: ports.udp[0] })),
];

/** Runs the native bridge plugin, which attaches the pods of both worlds. */
function bridge(
  binary: string,
  verb: "ADD" | "DEL",
  world: World,
  pod: PodNamespace,
  { containerId, addresses }: Case,
  ipMasq: boolean,
): void {
  const config = {
    cniVersion: "1.0.0",
    name: "pods",
    type: "bridge",
    bridge: "br0",
    ipMasq,
    ipam: {
      type: "static",
      addresses: addresses.map((address) => ({ address, gateway: address.replace(/\d+\/\d+$/, "1") })),
      routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }].slice(
        ...(addresses.length > 1 ? [0] : addresses[0]?.includes(":") ? [1] : [0, 1]),
      ),
    },
  };
  const ran = spawnSync("nsenter", [`--net=${world.node.path}`, binary], {
    input: JSON.stringify(config),
    encoding: "utf8",
    env: {
      ...process.env,
      CNI_COMMAND: verb,
      CNI_CONTAINERID: containerId,
      CNI_NETNS: pod.path,
      CNI_IFNAME: "eth0",
      CNI_PATH: binary.slice(0, binary.lastIndexOf("/")),
    },
  });
  if (ran.status !== 0) throw new Error(`bridge ${verb}: ${ran.stdout}`);
}

function scopeOf({ containerId, addresses }: Case): FirewallScope {
  return {
    type: "bridge-adapter",
    network: "pods",
    verb: "add",
    attachment: { containerId, ifname: "eth0" },
    grant: { masquerade: true },
    facts: { addresses, hostVeths: [] },
  };
}

describe.each(referenceReleases)("reference plugins $release", (reference) => {
  describe.skipIf(missing("traffic of masqueraded pods", ...needs, reference.requires("bridge", "static")))(
    "masquerading of the firewall and of the native bridge",
    () => {
      const binary = reference.plugin("bridge") ?? "";
      let shop: Workshop;
      const worlds: Record<"plexus" | "native", World> = {} as never;
      const pods = new Map<string, PodNamespace>();
      const podOf = (world: string, { containerId }: Case): PodNamespace => {
        const pod = pods.get(`${world} ${containerId}`);
        if (pod === undefined) throw new Error(`${world} has no pod ${containerId}`);
        return pod;
      };

      beforeAll(async () => {
        shop = await openWorkshop();
        Object.assign(worlds, { plexus: new World("plexus"), native: new World("native") });
        for (const [name, world] of Object.entries(worlds)) {
          for (const address of ["10.1.1.1/24", "fd00:2::1/64"])
            world.node.exec(["ip", "address", "add", address, "dev", "br0", ...(address.includes(":") ? ["nodad"] : [])]);
          world.at("outside").exec(["ip", "route", "add", "10.1.1.0/24", "via", "192.0.2.1"]);
          world.at("outside").exec(["ip", "-6", "route", "add", "fd00:2::/64", "via", "2001:db8::1"]);
          for (const [to, via] of [
            ["10.1.1.0/24", "10.1.0.1"],
            ["fd00:2::/64", "fd00:1::1"],
          ] as const)
            world.at("neighbour").exec(["ip", "route", "add", to, "via", via]);
          await Promise.all((["outside", "neighbour", "node"] as const).map((place) => world.serve(place, ports)));
          for (const each of cases) {
            const pod = createPodNamespace("masq");
            pods.set(`${name} ${each.containerId}`, pod);
            bridge(binary, "ADD", world, pod, each, name === "native" && each.ipMasq);
          }
        }
        await withShim(shop, worlds.plexus, async (shim) => {
          for (const each of cases.filter(({ ipMasq }) => ipMasq)) {
            const rules = { masquerades: each.addresses.map((address) => ({ address })), portMappings: [] };
            const replaced = await firewallFor(scopeOf(each), shim).replace(rules);
            if ("err" in replaced) throw new Error(replaced.err.msg);
          }
        });
      });
      afterAll(() => {
        for (const world of Object.values(worlds)) world.dispose();
        for (const pod of pods.values()) pod.dispose();
        shop.dispose();
      });

      test("shows every peer the same source address, for pods of each family, masqueraded or not", async () => {
        const [plexus, native] = await Promise.all(
          ["plexus", "native"].map((world) => Promise.all(cases.map((each) => probeIn(podOf(world, each), probes, 60_000)))),
        );
        const [plexusSeen, nativeSeen] = [plexus, native].map((answers) =>
          cases.map(({ containerId }, index) => [
            containerId,
            probes.map((probe, at) => ({ ...probe, seen: answers?.[index]?.[at] })),
          ]),
        );
        expect(plexusSeen).toEqual(nativeSeen);
        const of = (containerId: string): Record<string, string> => {
          const index = cases.findIndex((each) => each.containerId === containerId);
          return Object.fromEntries(
            probes.flatMap(({ protocol, address }, at) => (protocol === "tcp" ? [[address, plexus?.[index]?.[at] ?? ""]] : [])),
          );
        };
        // Peers outside the pod's network see the node's address, peers in it the pod's address.
        expect(of("masquerade-20")).toEqual({
          "192.0.2.2": "192.0.2.1 80",
          "2001:db8::2": expect.stringMatching(/^2001:db8::[13] 80$/),
          "10.1.0.6": "10.1.0.20 80",
          "fd00:1::6": "fd00:1::20 80",
          "192.0.2.1": "10.1.0.20 80",
          "2001:db8::1": "fd00:1::20 80",
        });
        expect(of("masquerade-21")).toMatchObject({ "10.1.0.6": "10.1.0.1 80", "fd00:1::6": "fd00:1::1 80" });
        expect(of("masquerade-30")).toMatchObject({ "192.0.2.2": "10.1.0.30 80", "2001:db8::2": "fd00:1::30 80" });
      });

      test.each([
        ["IPv4", "10.1.0.22", "192.0.2.1", "224.0.0.251", "192.0.2.2", /^192\.0\.2\.[13] /],
        ["IPv6", "fd00:1::23", "::%far0", "ff05::fb", "2001:db8::2", /^2001:db8::[13] /],
      ])("does not masquerade %s multicast", async (_what, from, link, group, unicast, node) => {
        for (const world of Object.values(worlds)) {
          const outside = world.at("outside");
          const [local] = outside.exec(["ip", "-4", "-o", "address", "show", "dev", "eth0"]).stdout.match(/192\S+(?=\/)/) ?? [];
          const child = await world.start("outside", "hear", {
            port: 5353,
            groups: [group.includes(":") ? [group, "::%eth0"] : [group, local ?? ""]],
          });
          let heard = "";
          child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (heard += chunk));
          // The node sends with the pod's address, as if it routed the pod's packet, so that the rules apply.
          world.node.exec(["ip", "address", "add", from, "dev", "lo", ...(from.includes(":") ? ["nodad"] : [])]);
          const shout = { from, link, to: [group, unicast], port: 5353 };
          await expect
            .poll(async () => {
              await new Promise((done) => runIn(world.node, "shout", JSON.stringify(shout)).once("exit", done));
              return [...new Set(heard.split("\n"))]
                .filter((line) => line !== "")
                .map((line) => line.replace(node, "the node "))
                .toSorted();
            })
            .toEqual([`${from} to ${group}`, `the node to ${unicast}`].toSorted());
          world.node.exec(["ip", "address", "del", from, "dev", "lo"]);
          child.kill("SIGKILL");
        }
      });

      test("removes on DEL the nftables rules of the native bridge's ADD", async () => {
        const rules = (): string => worlds.native.node.exec(["nft", "list", "ruleset"]).stdout;
        expect(rules()).toContain("chain CNI-");
        await withShim(shop, worlds.native, async (shim) => {
          for (const each of cases)
            expect(await firewallFor({ ...scopeOf(each), verb: "del" }, shim).remove()).toEqual({ ok: undefined });
        });
        expect(rules()).not.toContain("CNI-");
        expect(rules()).not.toContain("masquerade");
        const [first] = cases;
        if (first === undefined) throw new Error("no cases");
        expect(await probeIn(podOf("native", first), probes.slice(0, 1), 60_000)).toEqual(["10.1.0.20 80"]);
      });
    },
  );
});
