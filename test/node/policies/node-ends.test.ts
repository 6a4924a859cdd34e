// Policies at the node's end of a veth, with real packets: a pod that has removed its own tables, forges packets or changes its MAC, on a bridge and behind a
// routed link.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NetlinkShim } from "../../../host/capabilities/firewall/kernel.ts";
import { containersWithEnds, endTable, removeEnds, writeEnds } from "../../../features/policies/node/end-table.ts";
import { nodeTable } from "../../../features/policies/rules/node-table.ts";
import { policyObject, readable, tableOf, type TestPod } from "../../../features/policies/rules/testing/policy-objects.ts";
import type { PolicyTable } from "../../../features/policies/rules/table.ts";
import { readAddress } from "../../../src/net/ip.ts";
import { compiledPlugin } from "../../lab/compiled.ts";
import { createPodNamespace, inHost, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { type ReachServer, startReachServer } from "../../lab/policies/reach-server.ts";
import { command, missing } from "../../lab/requires.ts";
import { callWith } from "../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../shim/testing/workshop.ts";

const unavailable = missing("policies at the node's end", missingPrivateNamespaces, command("nft", "--version"));
const at = endTable("/var/lib/cni/ends", "pod1");

let shop: Workshop;

beforeAll(async () => {
  if (!unavailable) shop = await openWorkshop();
});

afterAll(() => shop?.dispose());

async function withShim<T>(script: (shim: NetlinkShim) => Promise<T>): Promise<T> {
  let outcome: T | undefined;
  await callWith(
    async (engine) => {
      outcome = await script(engine);
    },
    { shim: shop.shim },
  );
  if (outcome === undefined) throw new Error("the script did not end");
  return outcome;
}

/** The pod is 10.6.0.1, and its peer 10.6.0.2 and 10.6.0.3, in both families. */
const wirings = {
  bridge: (pod: string, peer: string) => `
    ip link add ends0 type bridge; ip link set ends0 up
    for p in ${pod} ${peer}; do ip link set e$p master ends0 up; done
    ip -n ${pod} addr add 10.6.0.1/24 dev net1; ip -n ${pod} addr add fd06::1/64 dev net1 nodad
    for a in 3 2; do ip -n ${peer} addr add 10.6.0.$((5 - a))/24 dev net1; ip -n ${peer} addr add fd06::$a/64 dev net1 nodad; done`,
  "routed link": (pod: string, peer: string) => `
    sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.conf.all.rp_filter=0
    for p in ${pod} ${peer}; do
      sysctl -qw net.ipv4.conf.e$p.rp_filter=0 net.ipv6.conf.e$p.accept_dad=0
      ip link set e$p addrgenmode none up
      ip addr add 10.6.1.1/32 dev e$p; ip addr add fe80::1/64 dev e$p nodad
      ip -n $p route add 10.6.1.1 dev net1; ip -n $p route add default via 10.6.1.1 dev net1; ip -n $p -6 route add default via fe80::1 dev net1
    done
    ip -n ${pod} addr add 10.6.0.1/32 dev net1; ip -n ${pod} addr add fd06::1/128 dev net1 nodad
    ip route add 10.6.0.1 dev e${pod}; ip -6 route add fd06::1 dev e${pod}
    for a in 3 2; do
      ip -n ${peer} addr add 10.6.0.$((5 - a))/32 dev net1; ip -n ${peer} addr add fd06::$a/128 dev net1 nodad
      ip route add 10.6.0.$a dev e${peer}; ip -6 route add fd06::$a dev e${peer}
    done`,
} as const;

const spec = (members: object): PolicyTable => {
  const peers: readonly TestPod[] = [{ namespace: "a", labels: { app: "db" }, addresses: ["10.6.0.2", "fd06::2"] }];
  const table = tableOf([readable(policyObject({ podSelector: {}, ...members }))], peers);
  if (table === undefined) throw new Error("the policy isolates nothing");
  return table;
};
const db = { podSelector: { matchLabels: { app: "db" } } };
const closed = spec({ policyTypes: ["Ingress", "Egress"] });
const toDb = spec({ policyTypes: ["Ingress", "Egress"], egress: [{ to: [db] }] });
const fromDb = spec({ policyTypes: ["Ingress", "Egress"], ingress: [{ from: [db] }] });
const ingressClosed = spec({ policyTypes: ["Ingress"] });
/** The bytes of these ports are the protocol's number and a zero. */
const fromDbToAlikePorts = spec({
  policyTypes: ["Ingress", "Egress"],
  ingress: [
    {
      from: [db],
      ports: [
        { protocol: "UDP", port: 17 << 8 },
        { protocol: "TCP", port: 6 << 8 },
      ],
    },
  ],
});

const services = (address: string): readonly string[] => [`tcp/${address}/80`, `udp/${address}/53`];

/** A program that sends a datagram in fragments, and ends with 0 if an answer comes. Only 10.6.0.2 and fd06::2 are waited for. */
const big = (address: string): string =>
  `import("node:dgram").then(({ createSocket }) => { const s = createSocket("${address.includes(":") ? "udp6" : "udp4"}"); s.once("message", () => process.exit(0)); const send = () => s.send(Buffer.alloc(3000), 53, "${address}"); send(); setTimeout(() => process.exit(7), ${address.endsWith("2") ? 60_000 : 300}); })`;

/** A program that sends a datagram and a SYN between the ports of `fromDbToAlikePorts`. */
const alike = (source = "", target = ""): string =>
  `const datagrams = require("node:dgram").createSocket("${source.includes(":") ? "udp6" : "udp4"}");
   datagrams.bind({ address: "${source}", port: 4352 }, () => datagrams.send("x", 4352, "${target}"));
   require("node:net").connect({ host: "${target}", port: 1536, localAddress: "${source}", localPort: 1536 }).on("error", () => undefined);
   setTimeout(() => process.exit(3), 500);`;

const macOf = (pod: PodNamespace): string => pod.links().find(({ name }) => name === "net1")?.mac ?? "";

const containersIn = (cniDir: string): Promise<unknown> => withShim((shim) => containersWithEnds(shim, cniDir));

describe.skipIf(unavailable).each(Object.entries(wirings))("policies at the node's end of a %s", (wiring, connect) => {
  let pod: PodNamespace;
  let peer: PodNamespace;
  let guest: PodNamespace | undefined;
  const reachServers = new Map<PodNamespace, ReachServer>();
  const children: ChildProcess[] = [];
  let written: PolicyTable | undefined;

  beforeAll(async () => {
    pod = createPodNamespace("a");
    peer = createPodNamespace("b");
    // Names of links have 15 characters.
    const [a, b] = [pod.name, peer.name];
    inHost([
      "sh",
      "-ec",
      `for p in ${a} ${b}; do
         ip link add e$p type veth peer name net1 netns $p
         ip netns exec $p sysctl -qw net.ipv6.conf.net1.accept_dad=0 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.net1.rp_filter=0
         ip -n $p link set net1 up
       done
       ${connect(a, b)}`,
    ]);
    for (const each of [pod, peer]) reachServers.set(each, await startReachServer(each.path));
  });

  afterAll(async () => {
    for (const server of reachServers.values()) server.stop();
    for (const child of children) child.kill();
    await withShim((shim) => removeEnds(shim, at));
    for (const each of [pod, peer, guest]) each?.dispose();
    if (wiring === "bridge") inHost(["ip", "link", "del", "ends0"]);
  });

  /** Puts the table at the node's end; undefined: it pins the pod's addresses only. */
  async function enforce(
    table: PolicyTable | undefined,
    {
      established = "keep",
      anew = false,
      knows = true,
      linkMac = macOf(pod),
    }: { established?: "keep" | "end"; anew?: boolean; knows?: boolean; linkMac?: string } = {},
  ): Promise<void> {
    const mac = linkMac.split(":").map((each) => Number.parseInt(each, 16));
    const addresses = ["10.6.0.1", "fd06::1"].flatMap((each) => readAddress(each) ?? []);
    const wanted = nodeTable([{ ifname: "net1", device: `e${pod.name}`, mac, addresses }], table, established);
    if (wanted === undefined) throw new Error("no end");
    const before = knows ? written : undefined;
    expect(await withShim((shim) => writeEnds(shim, at, before, wanted, anew))).toEqual({ ok: true, value: undefined });
    written = wanted;
  }

  /** The targets that answer a client in a namespace, of those that the client tries. `count`: the number of expected answers. */
  async function reached(from: PodNamespace, count: number, targets: readonly string[]): Promise<readonly string[]> {
    return (await reachServers.get(from)?.ask(targets, count))?.toSorted() ?? [];
  }

  // A server's datagrams come from its first address.
  const peers = [...services("10.6.0.2"), ...services("fd06::2"), "tcp/10.6.0.3/80", "tcp/fd06::3/80"];
  const ofDb = peers.slice(0, 4).toSorted();
  const own = [...services("10.6.0.1"), ...services("fd06::1")].toSorted();

  test("connections pass as the pod's own table lets them, with their replies, both families", async () => {
    await enforce(undefined);
    expect(await reached(pod, 6, peers)).toEqual(peers.toSorted());
    expect(await reached(peer, 4, own)).toEqual(own);
    await enforce(toDb);
    expect(await reached(pod, 4, peers)).toEqual(ofDb);
    expect(await reached(peer, 0, own)).toEqual([]);
    expect([pod.ping("10.6.0.2"), pod.ping("fd06::2")]).toEqual([true, true]);
    await enforce(fromDb);
    expect(await reached(pod, 0, peers)).toEqual([]);
    expect(await reached(peer, 4, own)).toEqual(own);
    await enforce(ingressClosed);
    expect(await reached(pod, 6, peers)).toEqual(peers.toSorted());
    expect(await reached(peer, 0, own)).toEqual([]);
    expect([pod.ping("10.6.0.3"), pod.ping("fd06::3"), peer.ping("10.6.0.1")]).toEqual([true, true, false]);
    await enforce(closed);
    expect(await reached(pod, 0, peers)).toEqual([]);
  });

  /** Another table of the peer: it remembers what comes, whatever the peer does with it. */
  const witness = `table netdev witness
    delete table netdev witness
    table netdev witness {
      set seen4 { type ipv4_addr . ipv4_addr . inet_proto; flags dynamic; size 65535; }
      set seen6 { type ipv6_addr . ipv6_addr . inet_proto; flags dynamic; size 65535; }
      chain in { type filter hook ingress device net1 priority 0; add @seen4 { ip saddr . ip daddr . meta l4proto }; ip6 saddr != fe80::/10 add @seen6 { ip6 saddr . ip6 daddr . meta l4proto }; }
    }`;

  function nft(args: readonly string[], input = ""): string {
    const { status, stdout, stderr } = spawnSync("nsenter", [`--net=${peer.path}`, "--", "nft", ...args], {
      encoding: "utf8",
      input,
    });
    if (status !== 0) throw new Error(`nft ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Forges packets in the pod. Answers source, destination and protocol of those that arrive at the peer. */
  function forged(packets: readonly string[]): readonly string[] {
    nft(["-f", "-"], witness);
    const args = [`--net=${pod.path}`, "--", compiledPlugin("inject"), "net1"];
    const sent = spawnSync("nsenter", args, { encoding: "utf8", input: packets.map((each) => `${each}\n`).join("") });
    expect(sent.stderr).toBe("");
    const listed = ["seen4", "seen6"].map((set) => nft(["-n", "list", "set", "netdev", "witness", set])).join("");
    return [...listed.matchAll(/([0-9a-f.:]+) \. ([0-9a-f.:]+) \. (\d+)/gu)].map(([text]) => text).toSorted();
  }

  const sources = { 4: ["10.6.0.1", "10.6.0.2", "10.6.0.9"], 6: ["fd06::1", "fd06::2", "fd06::9"] } as const;
  const forgeries = [6, 17, 132, 1, 47].flatMap((protocol) => [
    ...sources[4].flatMap((source) => ["10.6.0.2", "10.6.0.3"].map((to) => `${source} ${to} ${protocol} 40000 80`)),
    ...sources[6].flatMap((source) =>
      ["fd06::2", "fd06::3"].map((to) => `${source} ${to} ${protocol === 1 ? 58 : protocol} 128 80`),
    ),
  ]);

  test("PO-25: a pod that has removed its own tables and forges packets sends none that a policy forbids", async () => {
    await enforce(undefined);
    // The neighbours are known, so that each packet is sent at once.
    await reached(pod, 6, peers);
    pod.exec(["nft", "flush", "ruleset"]);
    const genuine = forged(forgeries);
    expect(new Set(genuine.map((each) => each.split(" ")[0]))).toEqual(new Set(["10.6.0.1", "fd06::1"]));
    expect(genuine).toHaveLength(20);
    await enforce(closed);
    expect(forged(forgeries)).toEqual([]);
    await enforce(toDb);
    expect(new Set(forged(forgeries).map((each) => each.split(" . ").slice(0, 2).join(" ")))).toEqual(
      new Set(["10.6.0.1 10.6.0.2", "fd06::1 fd06::2"]),
    );
  });

  test("a flow between ports whose bytes are those of its protocol opens no other port", async () => {
    await enforce(fromDbToAlikePorts);
    for (const [source, target] of [
      ["10.6.0.2", "10.6.0.1"],
      ["fd06::2", "fd06::1"],
    ])
      expect(peer.exec([process.execPath, "-e", alike(source, target)]).status).toBe(3);
    expect(inHost(["nft", "list", "table", "netdev", at.name])).toContain("10.6.0.2 . 10.6.0.1 . udp . 4352 . 4352");
    expect(await reached(peer, 0, own)).toEqual([]);
  });

  test("a pod that changes its MAC sends nothing, and goes on with its own", async () => {
    await enforce(undefined);
    const mac = macOf(pod);
    pod.exec(["ip", "link", "set", "net1", "address", "02:00:00:00:00:99"]);
    await reached(pod, 0, peers);
    expect(forged(forgeries)).toEqual([]);
    pod.exec(["ip", "link", "set", "net1", "address", mac]);
    await expect.poll(() => pod.ping("10.6.0.2"), { timeout: 60_000 }).toBe(true);
  });

  test("datagrams in fragments, and echo requests of 3,000 bytes, pass where the policy lets them, and nowhere else", async () => {
    await enforce(toDb);
    const statuses = ["10.6.0.2", "fd06::2", "10.6.0.3", "fd06::3"].map(
      (each) => pod.exec([process.execPath, "-e", big(each)]).status,
    );
    expect(statuses).toEqual([0, 0, 7, 7]);
  });

  test("a change of the policies keeps open connections with keep, also by a process that knows no table, and ends them with end", async () => {
    await enforce(toDb);
    const talk = `const s = require("node:net").connect({ host: "10.6.0.2", port: 7000 });
      s.on("data", (data) => process.stdout.write(data)); process.stdin.on("data", (data) => s.write(data)); s.on("connect", () => process.stdout.write("on"))`;
    const echo = `require("node:net").createServer((s) => s.pipe(s)).listen(7000, "::", () => process.stdout.write("up"))`;
    const server = spawn("nsenter", [`--net=${peer.path}`, "--", process.execPath, "-e", echo], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(server);
    await once(server.stdout, "data");
    const client = spawn("nsenter", [`--net=${pod.path}`, "--", process.execPath, "-e", talk], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.push(client);
    await once(client.stdout, "data");
    const answers = (text: string, waitMs = 60_000): Promise<boolean> => {
      const heard = once(client.stdout, "data").then(() => true);
      client.stdin.write(text);
      return Promise.race([heard, new Promise<boolean>((resolve) => setTimeout(resolve, waitMs, false).unref())]);
    };
    expect(await answers("1")).toBe(true);
    await enforce(closed);
    expect(await answers("2")).toBe(true);
    expect(await reached(pod, 0, ofDb)).toEqual([]);
    await enforce(closed, { knows: false, anew: true });
    expect(await answers("3")).toBe(true);
    await enforce(closed, { established: "end" });
    expect(await answers("4", 700)).toBe(false);
    // The connection sends its lost bytes again, maybe before the engine has its answer about the table.
    const again = once(client.stdout, "data");
    await enforce(toDb);
    await again;
  });

  test("a removed table leaves nothing, and a listing names the containers of one state directory only", async () => {
    await enforce(closed);
    expect(await containersIn("/var/lib/cni/ends")).toEqual({ ok: true, value: ["pod1"] });
    expect(await containersIn("/var/lib/cni/other")).toEqual({ ok: true, value: [] });
    for (let times = 0; times < 2; times++)
      expect(await withShim((shim) => removeEnds(shim, at))).toEqual({ ok: true, value: undefined });
    expect(inHost(["nft", "list", "tables"])).not.toContain(at.name);
    expect(await reached(pod, 6, peers)).toEqual(peers.toSorted());
    written = undefined;
  });

  // The last test: the pod's link stays a port of the bridge. KubeVirt does the same (netpod.go).
  test("policies hold for a virtual machine behind a bridge in the pod, which has the link's MAC and addresses", async () => {
    const linkMac = macOf(pod);
    guest = createPodNamespace("g");
    const [p, g] = [pod.name, guest.name];
    const bridged = wiring === "bridge";
    inHost([
      "sh",
      "-ec",
      `ip -n ${p} addr flush dev net1
       ip -n ${p} link set net1 address 02:00:00:00:00:77
       ip -n ${p} link add k6t0 type bridge; ip -n ${p} link set k6t0 up; ip -n ${p} link set net1 master k6t0
       ip -n ${p} link add tap0 type veth peer name net1 netns ${g}; ip -n ${p} link set tap0 master k6t0 up
       ip netns exec ${g} sysctl -qw net.ipv6.conf.net1.accept_dad=0
       ip -n ${g} link set net1 address ${linkMac} up
       ip -n ${g} addr add 10.6.0.1/${bridged ? 24 : 32} dev net1; ip -n ${g} addr add fd06::1/${bridged ? 64 : 128} dev net1 nodad
       ${bridged ? "" : `ip -n ${g} route add 10.6.1.1 dev net1; ip -n ${g} route add default via 10.6.1.1 dev net1; ip -n ${g} -6 route add default via fe80::1 dev net1`}`,
    ]);
    reachServers.set(guest, await startReachServer(guest.path));
    await enforce(undefined, { linkMac });
    expect(await reached(guest, 6, peers)).toEqual(peers.toSorted());
    expect(await reached(peer, 4, own)).toEqual(own);
    await enforce(toDb, { linkMac });
    expect(await reached(guest, 4, peers)).toEqual(ofDb);
    expect(await reached(peer, 0, own)).toEqual([]);
  });
});
