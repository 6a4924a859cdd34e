// Tables of Services in the kernel: connections of a pod to cluster addresses, which endpoints of another namespace answer on a further network.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replaceTable as replacePolicies } from "../../../features/policies/node/pod-table.ts";
import { policyObject, readable, tableOf, type TestPod } from "../../../features/policies/rules/testing/policy-objects.ts";
import { flushFlows } from "../../../features/services/node/flush-flows.ts";
import { replaceTable } from "../../../features/services/node/pod-table.ts";
import { networkId } from "../../../features/services/network-id.ts";
import { servePod } from "../../../features/services/node/serve-pod.ts";
import { balance, type BalancedPort, type KeptSlice } from "../../../features/services/rules/balance.ts";
import type { NetlinkShim } from "../../../host/capabilities/firewall/kernel.ts";
import type { Cluster } from "../../../host/cluster/cluster.ts";
import type { GuardContext, GuardedPod } from "../../../host/engine/planned/plan-feature.ts";
import { ok } from "../../../src/fault/result.ts";
import { type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { createPodNamespace, inHost, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { command, missing } from "../../lab/requires.ts";
import { callWith } from "../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../shim/testing/workshop.ts";

const [TCP, UDP, SCTP] = [6, 17, 132];
const ENOMEM = 12;
const echo = join(import.meta.dirname, "testing", "echo.mjs");
const manyFlows = join(import.meta.dirname, "testing", "many-flows.mjs");
const servers = ["10.1.0.11", "10.1.0.12", "fd01::11", "fd01::12"];
const unavailable = missing("tables of Services", missingPrivateNamespaces, command("nft", "--version"));

let shop: Workshop;
let pod: PodNamespace;
let peer: PodNamespace;
let server: ChildProcessWithoutNullStreams;

const ip = (text: string): IpAddress => {
  const address = readAddress(text);
  if (address === undefined) throw new Error(text);
  return address;
};
const port = (address: string, protocol: number, number: number, ...backends: readonly string[]): BalancedPort => ({
  name: `shop/web:${number}/${protocol}/${address}`,
  uid: "4f2a",
  address: ip(address),
  protocol,
  port: number,
  backends: backends.map((each) => ({ address: ip(each), port: protocol === UDP ? 5353 : 8080 })),
});
const entering = (namespace: PodNamespace): string[] => [`--net=${namespace.path}`, "--"];

/** The pod has the cluster's network on eth0, with its default route, and 10.1.0.2 and fd01::2 on net1. */
beforeAll(async () => {
  if (unavailable) return;
  shop = await openWorkshop();
  pod = createPodNamespace("services");
  peer = createPodNamespace("peer");
  const [a, b] = [pod.name, peer.name];
  inHost([
    "sh",
    "-ec",
    `for l in eth0 net1; do ip -n ${a} link add $l type veth peer name $l netns ${b}; ip -n ${a} link set $l up; ip -n ${b} link set $l up; done
     ip -n ${a} link set lo up; ip -n ${b} link set lo up
     ip -n ${a} addr add 192.168.0.2/24 dev eth0; ip -n ${a} addr add fd02::2/64 dev eth0 nodad
     ip -n ${b} addr add 192.168.0.1/24 dev eth0; ip -n ${b} addr add fd02::1/64 dev eth0 nodad
     ip -n ${a} addr add 10.1.0.2/24 dev net1; ip -n ${a} addr add fd01::2/64 dev net1 nodad
     for s in ${servers.map((each) => (each.includes(":") ? `${each}/64` : `${each}/24`)).join(" ")}; do ip -n ${b} addr add $s dev net1 $(case $s in *:*) echo nodad;; esac); done
     ip -n ${a} route add default via 192.168.0.1; ip -n ${a} -6 route add default via fd02::1`,
  ]);
  server = spawn("nsenter", [...entering(peer), process.execPath, echo, "serve", ...servers]);
  for await (const line of createInterface({ input: server.stdout })) if (line === "ready") break;
});
afterAll(() => {
  server?.kill("SIGKILL");
  shop?.dispose();
  pod?.dispose();
  peer?.dispose();
});

async function withShim(script: (shim: NetlinkShim) => Promise<void>): Promise<void> {
  await callWith((engine) => script(engine), { shim: shop.shim });
}
async function install(ports: readonly BalancedPort[], before: readonly BalancedPort[] = []): Promise<void> {
  await withShim(async (shim) => {
    expect(await replaceTable(shim, pod.path, ports)).toEqual({ ok: true, value: undefined });
    await flushFlows(shim, pod.path, before, ports);
  });
}
/** The flows of the pod. */
const flows = (): number => Number(pod.exec(["cat", "/proc/sys/net/netfilter/nf_conntrack_count"]).stdout);
/** Installs the table of a pod that has none as far as is known. */
const make = (ports: readonly BalancedPort[]): Promise<void> =>
  withShim(async (shim) => expect(await replaceTable(shim, pod.path, ports, true)).toEqual({ ok: true, value: undefined }));
/** The kept endpoints of IPv4. */
function keptFour(): string {
  return pod.exec(["nft", "-n", "list", "map", "inet", "plexus-services", "kept4"]).stdout;
}
/** The answers to so many connections: the server's address, and the client's as the server saw it. */
function ask(protocol: "tcp" | "udp", address: string, number: number, count = 1): readonly string[] {
  const args = [...entering(pod), process.execPath, echo, "ask", protocol, address, String(number), String(count)];
  return spawnSync("nsenter", args, { encoding: "utf8" }).stdout.trim().split("\n");
}

describe.skipIf(unavailable)("a pod's table of Services", () => {
  test.each([
    ["tcp", TCP, "10.96.0.7", ["10.1.0.11", "10.1.0.12"], "10.1.0.2"],
    ["udp", UDP, "10.96.0.7", ["10.1.0.11", "10.1.0.12"], "10.1.0.2"],
    ["tcp", TCP, "fd96::7", ["fd01::11", "fd01::12"], "fd01::2"],
    ["udp", UDP, "fd96::7", ["fd01::11", "fd01::12"], "fd01::2"],
  ] as const)(
    "SV-06: %s to a cluster address by the default route reaches each endpoint on the network, from the pod's address there (%s, %s)",
    async (protocol, number, address, endpoints, source) => {
      await install([port(address, number, 80, ...endpoints)]);
      const answers = new Set(ask(protocol, address, 80, 40));
      // All 40 at one of two endpoints has a probability of 2 in 2^40.
      expect([...answers].toSorted()).toEqual(endpoints.map((each) => `${each} ${source}`));
    },
  );

  test("SV-06: SCTP has a rule of its own", async () => {
    await install([port("10.96.0.7", SCTP, 80, "10.1.0.11"), port("10.96.0.7", TCP, 80, "10.1.0.12")]);
    const listed = pod.exec(["nft", "-n", "list", "table", "inet", "plexus-services"]).stdout;
    expect(listed).toContain("10.96.0.7 . 132 . 80 : jump");
  });

  test("SV-06: without an endpoint a connection is refused at once, as is another port; other addresses stay as they are", async () => {
    await install([port("10.96.0.7", TCP, 80), port("10.96.0.7", UDP, 53), port("fd96::7", TCP, 80)]);
    expect(ask("tcp", "10.96.0.7", 80)).toEqual(["ECONNREFUSED"]);
    expect(ask("tcp", "10.96.0.7", 81)).toEqual(["ECONNREFUSED"]);
    expect(ask("tcp", "fd96::7", 80)).toEqual(["ECONNREFUSED"]);
    expect(["EPERM", "ECONNREFUSED"]).toContain(ask("udp", "10.96.0.7", 53)[0]);
    expect(ask("tcp", "10.1.0.11", 8080)).toEqual(["10.1.0.11 10.1.0.2"]);
  });

  test("SV-07: when an endpoint goes, new connections go elsewhere, and its UDP flows are flushed, others stay", async () => {
    const [both, one] = [
      [port("10.96.0.7", UDP, 53, "10.1.0.11", "10.1.0.12"), port("10.96.0.8", UDP, 53, "10.1.0.11")],
      [port("10.96.0.7", UDP, 53, "10.1.0.12"), port("10.96.0.8", UDP, 53, "10.1.0.11")],
    ];
    await install(both);
    const talks = ["10.96.0.7", "10.96.0.7", "10.96.0.7", "10.96.0.7", "10.96.0.7", "10.96.0.7", "10.96.0.8"].map((address) => {
      const child = spawn("nsenter", [...entering(pod), process.execPath, echo, "talk", address, "53"]);
      return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
    });
    const talk = (): Promise<readonly unknown[]> =>
      Promise.all(
        talks.map(async ({ child, lines }) => {
          child.stdin.write("\n");
          return (await lines.next()).value;
        }),
      );
    const first = await talk();
    expect(await talk()).toEqual(first);
    await install(one, both);
    expect(await talk()).toEqual([...Array.from({ length: 6 }, () => "10.1.0.12 10.1.0.2"), "10.1.0.11 10.1.0.2"]);
    for (const { child } of talks) child.stdin.end();
  });

  test("SV-07: UDP flows of an endpoint that terminates and serves stay until it is gone, and new flows go elsewhere", async () => {
    const [both, other] = [port("10.96.0.7", UDP, 53, "10.1.0.11", "10.1.0.12"), port("10.96.0.7", UDP, 53, "10.1.0.12")];
    const draining: BalancedPort = { ...other, draining: [{ address: ip("10.1.0.11"), port: 5353 }] };
    await install([{ ...both, backends: both.backends.slice(0, 1) }]);
    const child = spawn("nsenter", [...entering(pod), process.execPath, echo, "talk", "10.96.0.7", "53"]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const talk = async (): Promise<unknown> => {
      child.stdin.write("\n");
      return (await lines.next()).value;
    };
    expect(await talk()).toBe("10.1.0.11 10.1.0.2");
    await install([draining], [both]);
    expect(await talk()).toBe("10.1.0.11 10.1.0.2");
    expect(new Set(ask("udp", "10.96.0.7", 53, 20))).toEqual(new Set(["10.1.0.12 10.1.0.2"]));
    await install([other], [draining]);
    expect(await talk()).toBe("10.1.0.12 10.1.0.2");
    child.stdin.end();
  });

  test("SV-07: thousands of UDP flows of an endpoint that goes are flushed", async () => {
    const [before, after] = [[port("10.96.0.7", UDP, 53, "10.1.0.11")], [port("10.96.0.7", UDP, 53, "10.1.0.12")]];
    await install(before);
    const none = flows();
    expect(pod.exec([process.execPath, manyFlows, "10.96.0.7", "53", "6000"])).toMatchObject({ status: 0 });
    // Some sockets get the port of an earlier one.
    expect(flows()).toBeGreaterThan(none + 4_000);
    await install(after, before);
    expect(flows()).toBeLessThan(none + 100);
    await install([]);
  });

  test("SV-14: the UDP flows of a Service that is made again with the same name and endpoints are flushed, those of other Services stay", async () => {
    const [again, other] = [port("10.96.0.7", UDP, 53, "10.1.0.11"), port("10.96.0.8", UDP, 53, "10.1.0.11")];
    await install([again, other]);
    await install([], [again, other]);
    await install([again, other]);
    const none = flows();
    for (const address of ["10.96.0.7", "10.96.0.8"])
      expect(pod.exec([process.execPath, manyFlows, address, "53", "100"])).toMatchObject({ status: 0 });
    const all = flows() - none;
    expect(all).toBeGreaterThan(150);
    await install([again, other], [again, other]);
    expect(flows() - none).toBe(all);
    const after = [{ ...again, uid: "77b0" }, other];
    await install(after, [again, other]);
    expect(flows() - none).toBeLessThan(110);
    expect(flows() - none).toBeGreaterThan(50);
    await install([], after);
    expect(flows()).toBeLessThanOrEqual(none);
  });

  test("SV-06: a first table is made without a removal, and replaces a table that is there after all", async () => {
    await install([]);
    await make([port("10.96.0.7", TCP, 80, "10.1.0.11")]);
    expect(ask("tcp", "10.96.0.7", 80)).toEqual(["10.1.0.11 10.1.0.2"]);
    await make([port("10.96.0.7", TCP, 80, "10.1.0.12")]);
    expect(ask("tcp", "10.96.0.7", 80)).toEqual(["10.1.0.12 10.1.0.2"]);
    await install([]);
  });

  test("SV-14: a Service that is made again with the same name and address keeps no client's endpoint", async () => {
    const sticky = { ...port("10.96.0.7", TCP, 80, "10.1.0.11", "10.1.0.12"), affinitySeconds: 10_800 };
    await install([sticky]);
    ask("tcp", "10.96.0.7", 80);
    await install([sticky], [sticky]);
    expect(keptFour()).toContain("expires");
    await install([{ ...sticky, uid: "77b0" }], [sticky]);
    expect(keptFour()).not.toContain("expires");
    await install([]);
  });

  test.each([
    ["10.96.0.7", ["10.1.0.11", "10.1.0.12"]],
    ["fd96::7", ["fd01::11", "fd01::12"]],
  ])(
    "SV-10: with session affinity a client keeps its endpoint, over replaced tables, until the time is over or the endpoint goes (%s)",
    async (address, endpoints) => {
      const sticky = (seconds: number, ...backends: readonly string[]): BalancedPort => ({
        ...port(address, TCP, 80, ...backends),
        affinitySeconds: seconds,
      });
      const kept = address.includes(":") ? "kept6" : "kept4";
      const listed = (): string => pod.exec(["nft", "-n", "list", "map", "inet", "plexus-services", kept]).stdout;
      const chosen = (count = 1): string => {
        const answers = new Set(ask("tcp", address, 80, count).map((each) => each.split(" ")[0] ?? ""));
        expect(answers.size).toBe(1);
        return [...answers][0] ?? "";
      };
      await install([sticky(10_800, ...endpoints)]);
      const first = chosen(20);
      expect(endpoints).toContain(first);
      expect(listed()).toMatch(/ 6 \. 80 \. .* expires .* : /u);
      expect(pod.exec(["nft", "list", "table", "inet", "plexus-services"]).stdout).toContain(`update @${kept}`);
      // The rules leave the packet's mark as it was.
      pod.exec(["nft", "add table inet mine; add chain inet mine out { type filter hook postrouting priority 0; }"]);
      pod.exec(["nft", "add rule inet mine out meta mark != 0 drop"]);
      // The pod's own choice outlives tables that are written anew, and other endpoints.
      await install([sticky(10_800, ...endpoints), port(address, UDP, 53, ...endpoints)]);
      await install([sticky(10_800, ...endpoints)]);
      expect(chosen(20)).toBe(first);
      const other = endpoints.find((each) => each !== first) ?? "";
      await install([sticky(10_800, other)]);
      expect(chosen(5)).toBe(other);
      await install([sticky(10_800, ...endpoints)]);
      expect(chosen(20)).toBe(other);
      // After a second without a connection each client is a new one: 40 times the same of two endpoints has a probability of 2 in 2^40.
      await install([sticky(1, ...endpoints)]);
      pod.exec(["nft", "flush", "map", "inet", "plexus-services", kept]);
      const over = new Set<string>();
      for (let round = 0; round < 40 && over.size < 2; round++) {
        over.add(chosen());
        await expect.poll(listed, { timeout: 60_000, interval: 200 }).not.toContain("expires");
      }
      expect(over.size).toBe(2);
      await install([port(address, TCP, 80, ...endpoints)]);
      expect(pod.exec(["nft", "list", "table", "inet", "plexus-services"]).stdout).not.toContain(kept);
      pod.exec(["nft", "delete", "table", "inet", "mine"]);
    },
  );

  test("SV-09: policies of the pod judge the endpoint's address and network, not the cluster address", async () => {
    const peers: readonly TestPod[] = [{ namespace: "a", labels: { app: "db" }, addresses: ["10.1.0.11"] }];
    const egress = {
      podSelector: {},
      policyTypes: ["Egress"],
      egress: [{ to: [{ podSelector: { matchLabels: { app: "db" } } }] }],
    };
    await withShim(async (shim) => {
      expect(await replacePolicies(shim, pod.path, tableOf([readable(policyObject(egress))], peers))).toMatchObject({ ok: true });
    });
    await install([port("10.96.0.7", UDP, 53, "10.1.0.11"), port("10.96.0.8", UDP, 53, "10.1.0.12")]);
    expect(ask("udp", "10.96.0.7", 53)).toEqual(["10.1.0.11 10.1.0.2"]);
    expect(ask("udp", "10.96.0.8", 53)).toEqual(["EPERM"]);
    await withShim(async (shim) => void (await replacePolicies(shim, pod.path, undefined)));
    expect(ask("udp", "10.96.0.8", 53)).toEqual(["10.1.0.12 10.1.0.2"]);
  });

  test("SV-06: the slice of a removed Service, whose address another one has got, keeps no pod from its Services", async () => {
    const front = { uid: "u1", clusterIps: ["10.96.0.7"], ports: [{ name: "", protocol: "TCP", port: 80 }] } as const;
    const slice = (service: string, address: string): KeptSlice => ({
      namespace: "shop",
      service,
      network: "n",
      front: { ...front, uid: service },
      family: 4,
      ports: [{ name: "", protocol: "TCP", port: 8080 }],
      endpoints: [{ address, isReady: true }],
    });
    await install(balance([slice("removed", "10.1.0.11"), slice("web", "10.1.0.12")], "shop").ports);
    expect(ask("tcp", "10.96.0.7", 80)).toEqual(["10.1.0.11 10.1.0.2"]);
    await install(balance([slice("web", "10.1.0.12")], "shop").ports);
    expect(ask("tcp", "10.96.0.7", 80)).toEqual(["10.1.0.12 10.1.0.2"]);
    await install([]);
  });

  test("SV-07: a table that could not be removed is removed by the next try", async () => {
    const slice: KeptSlice = {
      namespace: "shop",
      service: "web",
      network: networkId("shop/red"),
      front: { uid: "u1", clusterIps: ["10.96.0.7"], ports: [{ name: "", protocol: "TCP", port: 80 }] },
      family: 4,
      ports: [{ name: "", protocol: "TCP", port: 8080 }],
      endpoints: [{ address: "10.1.0.11", isReady: true }],
    };
    let slices = [slice];
    const source = { slices: async () => ok(slices) };
    const cluster = { objects: async () => source } as unknown as Cluster;
    const identity = { namespace: "shop", name: "web", uid: undefined };
    const interfaces = [{ ifname: "net1", source: "shop/red" }];
    const guarded = { containerId: "retried", netns: pod.path, pod: identity, cluster, interfaces };
    await withShim(async (shim) => {
      // A real kernel refuses a removal when it has no memory.
      let refuses = false;
      const refusing: NetlinkShim = {
        netlink: async (request) =>
          refuses ? { kind: "done", errno: ENOMEM, sent: true, reply: new Uint8Array() } : shim.netlink(request),
      };
      const context = { shim: refusing, warn: () => undefined } as unknown as GuardContext;
      const serve = () => servePod(context, guarded as unknown as GuardedPod, false);
      expect(await serve()).toMatchObject({ ok: true });
      expect(ask("tcp", "10.96.0.7", 80)).toEqual(["10.1.0.11 10.1.0.2"]);
      slices = [];
      refuses = true;
      expect(await serve()).toMatchObject({ ok: false });
      refuses = false;
      expect(await serve()).toMatchObject({ ok: true });
      expect(pod.exec(["nft", "list", "tables"]).stdout).not.toContain("plexus-services");
    });
  });

  test("L-07: the node's own network namespace under another path gets no table", async () => {
    await callWith(
      async (shim) => {
        for (const isFirst of [true, false])
          expect(await replaceTable(shim, "/proc/self/ns/net", [port("10.96.0.9", TCP, 80, "10.1.0.11")], isFirst)).toMatchObject(
            {
              ok: false,
              fault: { code: 4, msg: expect.stringContaining("is the node's own") },
            },
          );
      },
      { shim: shop.shim },
    );
    expect(inHost(["nft", "list", "tables"])).not.toContain("plexus-services");
  });

  test("no Service is no table, and a table of the pod's own stays", async () => {
    pod.exec(["nft", "add", "table", "inet", "mine"]);
    await install([port("10.96.0.7", TCP, 80, "10.1.0.11")]);
    await install([]);
    expect(pod.exec(["nft", "list", "tables"]).stdout.trim()).toBe("table inet mine");
  });
});
