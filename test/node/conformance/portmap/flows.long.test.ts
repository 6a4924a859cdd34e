// Flows of clients with a fixed port, before and after the end of a mapping, and ports that two networks of one container map. All by real packets.

import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ipvs, ipvsadmCommand } from "../../../lab/ipvsadm.ts";
import { command, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { shimWithPolicy } from "../../shim/testing/policy-shim.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { type Plugin, type PluginCall, withDelegate } from "./plugins.ts";
import { type PlacedProbe, World } from "./world.ts";

const grants = { firewall: { hostPorts: ["1-65535"] }, log: {} };
/** Time limits in milliseconds: for an answer that comes, and for one that does not. */
const [answered, unanswered] = [60_000, 1500];

interface Mapped {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: "tcp" | "udp";
  readonly hostIP?: string;
}

/** A network's attachment of a container. */
interface Attached {
  readonly containerId: string;
  readonly network?: string;
  readonly ifname?: string;
  /** Further keys of the configuration. */
  readonly more?: object;
}

function call(
  verb: PluginCall["verb"],
  { containerId, network = "pods", ifname = "eth0", more }: Attached,
  ...portMappings: readonly Mapped[]
): PluginCall {
  const prevResult = {
    cniVersion: "1.0.0",
    interfaces: [{ name: ifname, sandbox: "/run/netns/pod" }],
    ips: ["10.1.0.5/24", "fd00:1::5/64"].map((each) => ({ address: each, interface: 0 })),
  };
  const config = { cniVersion: "1.0.0", name: network, type: "portmap", ...more, runtimeConfig: { portMappings }, prevResult };
  return { verb, containerId, ifname, config };
}

function collect(network: string, ...valid: readonly Attached[]): PluginCall {
  const attachments = valid.map(({ containerId, ifname = "eth0" }) => ({ containerID: containerId, ifname }));
  const config = { cniVersion: "1.1.0", name: network, type: "portmap", "cni.dev/valid-attachments": attachments };
  return { verb: "GC", containerId: "", config };
}

/** Mappings of the port that both networks map. */
const ports = (containerPort: number, udpPort: number): readonly Mapped[] => [
  { hostPort: 8084, containerPort, protocol: "tcp" },
  { hostPort: 8084, containerPort: udpPort, protocol: "udp" },
];

const succeed = async (plugin: Plugin, ...calls: readonly PluginCall[]): Promise<void> => {
  for (const each of calls) expect(await plugin(each)).toMatchObject({ status: 0 });
};

const needs = [privateNamespaces, linkType("bridge"), command("nft", "-v")];

describe.skipIf(missing("flows through port mappings", ...needs))("portmap", () => {
  let shop: Workshop;
  let world: World;
  beforeAll(async () => {
    shop = await openWorkshop();
    world = new World("flows");
    await world.serve("pod", { tcp: [80, 81], udp: [53, 54] });
    // The node's own servers of the ports whose mappings end.
    await world.serve("node", { tcp: [9007], udp: [9001, 9002, 9003, 9004, 9005, 9006, 9008] });
  });
  afterAll(() => {
    world.dispose();
    shop.dispose();
  });

  const withPlugin = (script: (plugin: Plugin) => Promise<void>): Promise<void> => withDelegate(shop, world, grants, script);
  /** The answer to a client outside, whose UDP port is always the same. */
  const asked = async (port: number, more: Partial<PlacedProbe> = {}, time = answered): Promise<string | undefined> => {
    const probe: PlacedProbe = { from: "outside", protocol: "udp", address: "192.0.2.1", port, localPort: 40_000, ...more };
    return (await world.probe([probe], time))[0];
  };

  /** The answers at the port that both networks map. */
  const answers = async (): Promise<readonly (string | undefined)[]> =>
    await Promise.all([asked(8084, { protocol: "tcp" }), asked(8084), asked(8084, { from: "node", address: "127.0.0.1" })]);

  describe("FI-23: a client with a fixed UDP port reaches the node's own server", () => {
    const ends: readonly (readonly [string, number, (attached: Attached) => PluginCall])[] = [
      ["DEL", 9001, (attached) => call("DEL", attached)],
      ["GC", 9002, () => collect("pods")],
      [
        "an ADD without the mapping",
        9003,
        (attached) => call("ADD", attached, { hostPort: 8999, containerPort: 53, protocol: "udp" }),
      ],
    ];
    test.each(ends)("after %s", async (_how, hostPort, end) => {
      const attached = { containerId: `gone-${hostPort}` };
      await withPlugin(async (plugin) => {
        await succeed(plugin, call("ADD", attached, { hostPort, containerPort: 53, protocol: "udp" }));
        expect(await asked(hostPort)).toBe("192.0.2.2 53");
        expect(await asked(hostPort, { address: "2001:db8::3" })).toBe("2001:db8::2 53");
        expect(await asked(hostPort, { from: "neighbour", address: "10.1.0.1" })).toBe("10.1.0.1 53");
        await succeed(plugin, end(attached));
        expect(await asked(hostPort)).toBe(`192.0.2.2 ${hostPort}`);
        expect(await asked(hostPort, { address: "2001:db8::3" })).toBe(`2001:db8::2 ${hostPort}`);
        expect(await asked(hostPort, { from: "neighbour", address: "10.1.0.1" })).toBe(`10.1.0.6 ${hostPort}`);
        await succeed(plugin, call("DEL", attached));
      });
    });

    test("after DEL of a mapping at one address, while the other address keeps its own", async () => {
      const [one, two] = [{ containerId: "one" }, { containerId: "two" }];
      const mapping = { hostPort: 9004, protocol: "udp" } as const;
      await withPlugin(async (plugin) => {
        await succeed(
          plugin,
          call("ADD", one, { ...mapping, containerPort: 53, hostIP: "192.0.2.1" }),
          call("ADD", two, { ...mapping, containerPort: 54, hostIP: "192.0.2.3" }),
        );
        expect([await asked(9004), await asked(9004, { address: "192.0.2.3" })]).toEqual(["192.0.2.2 53", "192.0.2.2 54"]);
        await succeed(plugin, call("DEL", one));
        expect([await asked(9004), await asked(9004, { address: "192.0.2.3" })]).toEqual(["192.0.2.2 9004", "192.0.2.2 54"]);
        await succeed(plugin, call("DEL", two));
      });
    });

    test("after a DEL that an earlier one left undone after it had taken the port from the pod", async () => {
      const attached = { containerId: "interrupted" };
      await withPlugin(async (plugin) => {
        await succeed(plugin, call("ADD", attached, { hostPort: 9005, containerPort: 53, protocol: "udp" }));
        expect(await asked(9005)).toBe("192.0.2.2 53");
        world.node.exec(["nft", "delete", "element", "ip", "plexus", "hostports", "{ udp . 9005 }"]);
        expect(await asked(9005)).toBe("192.0.2.2 53");
        await succeed(plugin, call("DEL", attached));
        expect(await asked(9005)).toBe("192.0.2.2 9005");
      });
    });
  });

  test("FI-23: a node's policy without conntrack fails no call: mappings work and end, and only the old flow stays", async () => {
    const { path: shim, file, dispose } = await shimWithPolicy(shop.directory, "portmap-flows");
    onTestFinished(dispose);
    writeFileSync(file, JSON.stringify({ nodeNetlink: ["route/*", "netfilter/nftables/*"] }), { mode: 0o644 });
    const attached = { containerId: "bounded" };
    await withDelegate({ ...shop, shim }, world, grants, async (plugin) => {
      await succeed(plugin, call("ADD", attached, { hostPort: 9008, containerPort: 53, protocol: "udp" }));
      expect(await asked(9008)).toBe("192.0.2.2 53");
      await succeed(
        plugin,
        call("CHECK", attached, { hostPort: 9008, containerPort: 53, protocol: "udp" }),
        call("DEL", attached),
      );
      // The kernel looks at rules for a flow's first packet only, and the shim may not delete the flow.
      expect(await asked(9008)).toBe("192.0.2.2 53");
      expect(await asked(9008, { localPort: 40_001 })).toBe("192.0.2.2 9008");
      await succeed(plugin, collect("pods"));
    });
  });

  test("FI-23: another port of the pod follows a change of its mapping, and a repeated ADD keeps the flow", async () => {
    const attached = { containerId: "changed" };
    await withPlugin(async (plugin) => {
      const to = (containerPort: number): PluginCall => call("ADD", attached, { hostPort: 9006, containerPort, protocol: "udp" });
      await succeed(plugin, to(53));
      expect(await asked(9006)).toBe("192.0.2.2 53");
      await succeed(plugin, to(53));
      expect(await asked(9006)).toBe("192.0.2.2 53");
      await succeed(plugin, to(54));
      expect(await asked(9006)).toBe("192.0.2.2 54");
      await succeed(plugin, call("DEL", attached));
      expect(await asked(9006)).toBe("192.0.2.2 9006");
    });
  });

  test("FI-23: a mapping with ! -d leaves a ClusterIP of the node, as kube-proxy has in IPVS mode, to the node's server", async () => {
    world.node.exec(["ip", "address", "add", "10.96.0.10/32", "dev", "lo"]);
    world.at("outside").exec(["ip", "route", "add", "10.96.0.0/12", "via", "192.0.2.1"]);
    const attached = { containerId: "ipvs", more: { conditionsV4: ["!", "-d", "10.96.0.0/12"] } };
    await withPlugin(async (plugin) => {
      const add = call("ADD", attached, { hostPort: 9007, containerPort: 80, protocol: "tcp" });
      const probe = { protocol: "tcp" } as const;
      expect(await asked(9007, { ...probe, address: "10.96.0.10" })).toBe("192.0.2.2 9007");
      await succeed(plugin, add, { ...add, verb: "CHECK" });
      expect(await asked(9007, { ...probe, address: "10.96.0.10" })).toBe("192.0.2.2 9007");
      expect(await asked(9007, probe)).toBe("192.0.2.2 80");
      await succeed(plugin, call("DEL", attached));
      expect(await asked(9007, probe)).toBe("192.0.2.2 9007");
    });
  });

  test.skipIf(missing("port mappings beside IPVS", ipvs))(
    "FI-23: a mapping with ! -d leaves a ClusterIP to the endpoint that IPVS balances, and one without takes it",
    async () => {
      const [cluster, service] = ["10.96.0.11", "10.96.0.11:9009"];
      const node = (...words: readonly [string, ...string[]]): void =>
        void expect(world.node.exec(words)).toMatchObject({ status: 0, stderr: "" });
      // As kube-proxy: the ClusterIP is an address of the node, the endpoint is masqueraded, and connections are tracked.
      node("ip", "address", "add", `${cluster}/32`, "dev", "lo");
      node("sh", "-c", "echo 1 >/proc/sys/net/ipv4/vs/conntrack");
      node(...ipvsadmCommand(), "-A", "-t", service, "-s", "rr");
      node(...ipvsadmCommand(), "-a", "-t", service, "-r", "10.1.0.5:81", "-m");
      world.at("outside").exec(["ip", "route", "replace", "10.96.0.0/12", "via", "192.0.2.1"]);
      const toService = { protocol: "tcp", address: cluster } as const;
      const mapping = { hostPort: 9009, containerPort: 80, protocol: "tcp" } as const;
      await withPlugin(async (plugin) => {
        expect(await asked(9009, toService)).toBe("192.0.2.2 81");
        const without = { containerId: "ipvs-without" };
        await succeed(plugin, call("ADD", without, mapping));
        expect(await asked(9009, toService)).toBe("192.0.2.2 80");
        await succeed(plugin, call("DEL", without));
        const attached = { containerId: "ipvs-with", more: { conditionsV4: ["!", "-d", "10.96.0.0/12"] } };
        await succeed(plugin, call("ADD", attached, mapping));
        expect(await asked(9009, toService)).toBe("192.0.2.2 81");
        expect(await asked(9009, { protocol: "tcp" })).toBe("192.0.2.2 80");
        await succeed(plugin, call("DEL", attached));
      });
    },
  );

  describe("FI-10: one container on two networks that both map its port", () => {
    const [first, second] = [
      { containerId: "podman", network: "lan", ifname: "eth0" },
      { containerId: "podman", network: "storage", ifname: "eth1" },
    ] as const;
    const add = { first: call("ADD", first, ...ports(80, 53)), second: call("ADD", second, ...ports(81, 54)) } as const;
    const ofFirst = ["192.0.2.2 80", "192.0.2.2 53", "10.1.0.1 53"];
    const ofSecond = ["192.0.2.2 81", "192.0.2.2 54", "10.1.0.1 54"];
    const ends: readonly (readonly [string, (attached: Attached, other: Attached) => PluginCall])[] = [
      ["DEL", (attached) => call("DEL", attached)],
      ["GC", ({ network = "" }) => collect(network)],
    ];

    test.each(ends)("the port answers after %s of the first, and of no more attachments after both", async (_how, end) => {
      await withPlugin(async (plugin) => {
        await succeed(plugin, add.first, add.second, { ...add.first, verb: "CHECK" }, { ...add.second, verb: "CHECK" });
        expect(await answers()).toEqual(ofFirst);
        await succeed(plugin, end(first, second));
        expect(await answers()).toEqual(ofSecond);
        await succeed(plugin, { ...add.second, verb: "CHECK" }, end(second, first));
        expect(await asked(8084, { protocol: "tcp" }, unanswered)).toBe("");
        expect(world.node.exec(["nft", "list", "ruleset"]).stdout).not.toContain("podman");
      });
    });

    test.each(ends)("the port answers after %s of the second", async (_how, end) => {
      await withPlugin(async (plugin) => {
        await succeed(plugin, add.first, add.second, end(second, first));
        expect(await answers()).toEqual(ofFirst);
        await succeed(plugin, { ...add.first, verb: "CHECK" }, end(first, second));
        expect(world.node.exec(["nft", "list", "ruleset"]).stdout).not.toContain("podman");
      });
    });

    test("the port answers after each is removed and attached again, as podman reloads networks", async () => {
      await withPlugin(async (plugin) => {
        await succeed(plugin, add.first, add.second, call("DEL", first), add.first);
        expect(await answers()).toEqual(ofSecond);
        await succeed(plugin, call("DEL", second), add.second, { ...add.first, verb: "CHECK" });
        expect(await answers()).toEqual(ofFirst);
        await succeed(plugin, add.first, add.second, { ...add.first, verb: "CHECK" }, { ...add.second, verb: "CHECK" });
        expect(await answers()).toEqual(ofFirst);
        await succeed(plugin, call("DEL", second), call("DEL", first));
      });
    });

    test("no other container gets the port until both are gone", async () => {
      const other = call("ADD", { containerId: "other" }, ...ports(80, 53));
      const refused = async (plugin: Plugin, network: string): Promise<void> => {
        const { stdout, status } = await plugin(other);
        expect([status, JSON.parse(stdout)]).toEqual([
          1,
          expect.objectContaining({ code: 11, msg: expect.stringContaining(`is already mapped to podman/`) }),
        ]);
        expect(stdout).toContain(`of the network ${network}`);
      };
      await withPlugin(async (plugin) => {
        await succeed(plugin, add.first, add.second);
        await refused(plugin, "lan");
        await succeed(plugin, call("DEL", first));
        await refused(plugin, "storage");
        await succeed(plugin, call("DEL", second), other, call("DEL", { containerId: "other" }));
      });
    });
  });
});
