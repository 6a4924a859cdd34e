// A pod with NET_ADMIN and NET_RAW against the policies at the node's end of its veth: forged packets, removed tables, renamed and further links, VLAN tags,
// extension headers of IPv6, and fragments. Each frame has a mark, and a packet socket at the peer sees what arrives.

import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endTable, removeEnds, writeEnds } from "../../../features/policies/node/end-table.ts";
import { nodeTable } from "../../../features/policies/rules/node-table.ts";
import { address, policyObject, readable, tableOf } from "../../../features/policies/rules/testing/policy-objects.ts";
import type { PolicyTable } from "../../../features/policies/rules/table.ts";
import type { NetlinkShim } from "../../../host/capabilities/firewall/kernel.ts";
import { compiledPlugin } from "../../lab/compiled.ts";
import { createPodNamespace, inHost, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import {
  advertisement,
  arp,
  type Extension,
  fragmentHeader,
  frame,
  ipv4,
  type Ipv4Init,
  ipv6,
  macOf,
  padding,
  type Tag,
  transport,
} from "../../lab/policies/raw-frames.ts";
import { command, missing } from "../../lab/requires.ts";
import { callWith } from "../../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../node/shim/testing/workshop.ts";

const unavailable = missing("a pod against the node's end", missingPrivateNamespaces, command("nft", "--version"));
const at = endTable("/var/lib/cni/attacked", "pod1");
const [TCP, UDP, ICMPV6] = [6, 17, 58];
const [IP, IP6, ARP] = [0x0800, 0x86dd, 0x0806];
const [own, db, other, own6, db6, other6] = ["10.7.0.1", "10.7.0.2", "10.7.0.3", "fd07::1", "fd07::2", "fd07::3"];
const mac = { pod: "02:00:00:00:07:01", peer: "02:00:00:00:07:02", another: "02:00:00:00:07:09" };

/** A packet or a frame with a mark in its payload: the kernel cuts off what follows a packet. */
type Marked = (mark: readonly number[]) => readonly number[];

/** Frames by the names of their tricks. */
type Frames = Readonly<Record<string, Marked>>;

const data =
  (bytes: readonly number[]): Marked =>
  (mark) => [...bytes, ...mark];
const ether =
  (type: number, payload: Marked, tags: readonly Tag[] = [], from = mac.pod): Marked =>
  (mark) =>
    frame({ from: macOf(from), to: macOf(mac.peer), tags }, type, payload(mark));
const packet =
  (from: string, to: string, protocol: number, payload: Marked, init: Ipv4Init = {}): Marked =>
  (mark) =>
    ipv4(from, to, protocol, payload(mark), init);
const packet6 =
  (from: string, to: string, protocol: number, payload: Marked, headers: readonly Extension[] = []): Marked =>
  (mark) =>
    ipv6(from, to, protocol, payload(mark), headers);
const datagram = (to: string, port: number, init: Ipv4Init = {}, from = own): Marked =>
  packet(from, to, UDP, data(transport(UDP, port)), init);
const datagram6 = (to: string, port: number, headers: readonly Extension[] = [], from = own6): Marked =>
  packet6(from, to, UDP, data(transport(UDP, port)), headers);
/** The payload that says port 53 where a reader of the wrong offset looks. */
const looksAllowed = transport(UDP, 53);

const tag: Tag = [0x8100, 5];
const priority: Tag = [0x8100, 0];
const service: Tag = [0x88a8, 7];
const tricks: Readonly<Record<string, readonly Tag[]>> = {
  plain: [],
  tagged: [tag],
  "priority tag": [priority],
  "service tag": [service],
  "two tags": [service, tag],
  // A host takes both tags of the VLAN 0 away, and reads the packet behind them.
  "two priority tags": [priority, priority],
};
const withTags = (name: string, type: number, payload: Marked): Frames =>
  Object.fromEntries(Object.entries(tricks).map(([trick, tags]) => [`${name}, ${trick}`, ether(type, payload, tags)]));

const toDb = (...ports: readonly object[]): PolicyTable => {
  const to = [{ podSelector: { matchLabels: { app: "db" } } }];
  const spec = { podSelector: {}, policyTypes: ["Ingress", "Egress"], egress: [{ to, ports }] };
  const table = tableOf([readable(policyObject(spec))], [{ namespace: "a", labels: { app: "db" }, addresses: [db, db6] }]);
  if (table === undefined) throw new Error("the policy isolates nothing");
  return table;
};
const isolated = toDb({ protocol: "UDP", port: 53 }, { protocol: "TCP", port: 80 });

describe.skipIf(unavailable)("a pod against the policies at the node's end of its veth", () => {
  let shop: Workshop;
  let pod: PodNamespace;
  let peer: PodNamespace;
  beforeAll(async () => {
    shop = await openWorkshop();
    [pod, peer] = [createPodNamespace("a"), createPodNamespace("b")];
    const [a, b] = [pod.name, peer.name];
    const wiring = `ip link add attacked0 type bridge; ip link set attacked0 up
      for p in ${a} ${b}; do ip link add e$p type veth peer name net1 netns $p; ip link set e$p master attacked0 up; done
      ip -n ${a} link set net1 address ${mac.pod} up; ip -n ${b} link set net1 address ${mac.peer} up
      ip -n ${a} addr add ${own}/24 dev net1; ip -n ${a} addr add ${own6}/64 dev net1 nodad`;
    inHost(["sh", "-ec", wiring]);
    // A bridge forwards once its ports have a carrier.
    await arrived({});
  });
  afterAll(async () => {
    await withShim((shim) => removeEnds(shim, at));
    for (const each of [pod, peer]) each?.dispose();
    inHost(["ip", "link", "del", "attacked0"]);
    shop?.dispose();
  });

  async function withShim(script: (shim: NetlinkShim) => Promise<unknown>): Promise<void> {
    let outcome: unknown;
    await callWith(
      async (engine) => {
        outcome = await script(engine);
      },
      { shim: shop.shim },
    );
    expect(outcome).toEqual({ ok: true, value: undefined });
  }

  /** Writes the table; undefined: the end only pins the pod's addresses. */
  async function enforce(table: PolicyTable | undefined): Promise<void> {
    const end = { ifname: "net1", device: `e${pod.name}`, mac: macOf(mac.pod), addresses: [address(own), address(own6)] };
    const wanted = nodeTable([end], table, "keep");
    if (wanted === undefined) throw new Error("no end");
    await withShim((shim) => removeEnds(shim, at));
    await withShim((shim) => writeEnds(shim, at, undefined, wanted, true));
  }

  function send(frames: readonly (readonly number[])[], link: string): void {
    const args = [`--net=${pod.path}`, "--", compiledPlugin("frames"), link];
    const input = frames.map((bytes) => `${Buffer.from(bytes).toString("hex")}\n`).join("");
    const { status, stderr } = spawnSync("nsenter", args, { encoding: "utf8", input });
    if (status !== 0) throw new Error(`frames ended with ${status}: ${stderr}`);
  }

  /** Sends the frames, and answers the names of those that arrive, in order. A frame that may pass is sent behind them until it arrives. */
  async function arrived(frames: Frames, link = "net1"): Promise<readonly string[]> {
    const names = [...Object.keys(frames), "end"];
    const all = [...Object.values(frames), ether(IP, datagram(db, 53))];
    const marked = all.map((make, index) => make([0xa7, 0x7a, 0xc0, index >> 8, index & 0xff]));
    const sniffer = ["--pdeathsig", "KILL", "--", "nsenter", `--net=${peer.path}`, "--", compiledPlugin("sniff")];
    const child = spawn("setpriv", [...sniffer, "net1", "3", "9999", "60000", "a77ac0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let again: NodeJS.Timeout | undefined;
    const seen: string[] = [];
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        if (line === "ready") {
          send(marked.slice(0, -1), link);
          again = setInterval(() => send(marked.slice(-1), link), 300);
          continue;
        }
        const name = names[Number.parseInt(/a77ac0([0-9a-f]{4})/u.exec(line)?.[1] ?? "ffff", 16)] ?? line;
        if (name === "end") break;
        seen.push(name);
      }
    } finally {
      clearInterval(again);
      child.kill();
    }
    return seen;
  }

  test("PO-25: with flushed tables, a renamed link and links of its own, the pod sends what its policy allows, and no more", async () => {
    await enforce(isolated);
    const forbidden: Frames = {
      ...withTags("another host", IP, datagram(other, 53)),
      ...withTags("another port", IP, datagram(db, 54)),
      ...withTags("another host of IPv6", IP6, datagram6(other6, 53)),
      ...withTags("another port of IPv6", IP6, packet6(own6, db6, TCP, data(transport(TCP, 81)))),
      ...withTags("another protocol", 0x88b5, data([])),
      "another MAC": ether(IP, datagram(db, 53), [], mac.another),
      "MPLS around the packet": ether(0x8847, (mark) => [0, 0, 1, 64, ...datagram(db, 53)(mark)]),
    };
    const allowed: Frames = {
      datagram: ether(IP, datagram(db, 53)),
      "tagged datagram": ether(IP, datagram(db, 53), [tag]),
      segment: ether(IP6, packet6(own6, db6, TCP, data(transport(TCP, 80)))),
    };
    const all = { ...forbidden, ...allowed };
    expect(await arrived(all)).toEqual(Object.keys(allowed));
    expect(pod.exec(["nft", "flush", "ruleset"]).status).toBe(0);
    expect(pod.exec(["sh", "-ec", "ip link set net1 down; ip link set net1 name free1 up"]).status).toBe(0);
    expect(await arrived(all, "free1")).toEqual(Object.keys(allowed));
    // A bridge of the pod's over its link, with another MAC, and the pod's link in a namespace that the pod has made.
    const bridge = `ip link add br9 type bridge; ip link set br9 address ${mac.another} up; ip link set free1 master br9`;
    expect(pod.exec(["sh", "-ec", bridge]).status).toBe(0);
    expect(await arrived(all, "br9")).toEqual(Object.keys(allowed));
    const moved = `ip link del br9; ip link set free1 down; ip link set free1 name net1; ip link set net1 address ${mac.pod} up`;
    expect(pod.exec(["sh", "-ec", moved]).status).toBe(0);
  });

  test("PO-25: options, extension headers and lengths hide no port and no host", async () => {
    await enforce(isolated);
    const nops = [1, 1, 1, 1];
    const forbidden: Frames = {
      "port behind options": ether(IP, datagram(db, 54, { options: [...nops, ...nops] })),
      "options that look like ports": ether(IP, datagram(db, 54, { options: looksAllowed })),
      "header of 16 bytes": ether(IP, datagram(db, 53, { first: 0x44 })),
      "version 6 in a frame of IPv4": ether(IP, datagram(db, 53, { first: 0x65 })),
      "IPv6 in a frame of IPv4": ether(IP, datagram6(db6, 53)),
      "IPv4 in a frame of IPv6": ether(IP6, datagram(db, 53)),
      "tunnel of IPv4": ether(IP, packet(own, db, 4, datagram(db, 53))),
      "tunnel of IPv6": ether(IP, packet(own, db, 41, datagram6(db6, 53))),
      "hop-by-hop options": ether(IP6, datagram6(other6, 53, [padding(0)])),
      "destination options that look like ports": ether(IP6, datagram6(db6, 54, [padding(60, [156, 64, 0, 53])])),
      "many headers": ether(IP6, datagram6(db6, 54, [padding(0), padding(60), fragmentHeader(1, 0, false), padding(60)])),
      "no next header": ether(IP6, packet6(own6, db6, 59, data(looksAllowed))),
      "unknown extension header": ether(IP6, packet6(own6, db6, 253, data([...looksAllowed, ...looksAllowed]))),
      "routing header": ether(IP6, datagram6(other6, 53, [[43, [2, 0, 0, 0, 0, 0, 0, ...address16(db6)]]])),
    };
    const allowed: Frames = {
      "port 53 behind options": ether(IP, datagram(db, 53, { options: nops })),
      "port 53 behind headers": ether(IP6, datagram6(db6, 53, [padding(0), padding(60, [156, 64, 0, 99])])),
    };
    expect(await arrived({ ...forbidden, ...allowed })).toEqual(Object.keys(allowed));
  });

  test("PO-25: fragments pass behind a first fragment that may pass, and no others", async () => {
    await enforce(isolated);
    const bytes = data([...looksAllowed, ...looksAllowed]);
    const forbidden: Frames = {
      "later fragment alone": ether(IP, packet(own, db, UDP, bytes, { id: 70, fragment: [3, false] })),
      "first fragment to another port": ether(IP, datagram(db, 54, { id: 71, fragment: [0, true] })),
      "its later fragment": ether(IP, packet(own, db, UDP, bytes, { id: 71, fragment: [1, false] })),
      "first fragment without ports": ether(IP, packet(own, db, UDP, data([]), { id: 72, fragment: [0, true] })),
      "first fragment to another host": ether(IP, datagram(other, 53, { id: 73, fragment: [0, true] })),
      "later fragment of IPv6 alone": ether(IP6, packet6(own6, db6, UDP, bytes, [fragmentHeader(80, 3, false)])),
      "first fragment of IPv6 to another port": ether(IP6, datagram6(db6, 54, [fragmentHeader(81, 0, true)])),
      "its later fragment of IPv6": ether(IP6, packet6(own6, db6, UDP, bytes, [fragmentHeader(81, 1, false)])),
      "fragment behind destination options": ether(IP6, datagram6(db6, 54, [padding(60), fragmentHeader(82, 0, true)])),
      "fragment of another host": ether(IP6, datagram6(other6, 53, [fragmentHeader(83, 0, true)])),
    };
    const allowed: Frames = {
      "first fragment": ether(IP, datagram(db, 53, { id: 90, fragment: [0, true] })),
      "later fragment": ether(IP, packet(own, db, UDP, bytes, { id: 90, fragment: [1, false] })),
      "first fragment of IPv6": ether(IP6, datagram6(db6, 53, [fragmentHeader(91, 0, true)])),
      "later fragment of IPv6": ether(IP6, packet6(own6, db6, UDP, bytes, [fragmentHeader(91, 1, false)])),
    };
    const again: Frames = {
      // A second first fragment would put another port into the datagram of the one that has passed.
      "another first fragment": ether(IP, datagram(db, 54, { id: 90, fragment: [0, true] })),
      "another first fragment of IPv6": ether(IP6, datagram6(db6, 54, [fragmentHeader(91, 0, true)])),
      "later fragment to another host": ether(IP, packet(own, other, UDP, bytes, { id: 90, fragment: [1, false] })),
    };
    expect(await arrived({ ...forbidden, ...allowed, ...again })).toEqual(Object.keys(allowed));
  });

  test("PO-25: without a policy the pod names its own addresses only, whatever stands before them", async () => {
    await enforce(undefined);
    const [fake, fake6] = [datagram(db, 53, {}, other), datagram6(db6, 53, [], other6)];
    const claim = data(advertisement(macOf(mac.pod), db6));
    const claims: Readonly<Record<string, readonly Extension[]>> = {
      plain: [],
      "behind options": [padding(0), padding(60)],
      "as an atomic fragment": [fragmentHeader(60, 0, false)],
    };
    const forbidden: Frames = {
      ...withTags("another source", IP, fake),
      ...withTags("another source of IPv6", IP6, fake6),
      ...withTags("another's address by ARP", ARP, data(arp(macOf(mac.pod), db))),
      ...withTags("own address with another MAC", ARP, data(arp(macOf(mac.another), own))),
      ...Object.fromEntries(
        Object.entries(claims).map(([name, headers]) => [
          `another's address advertised, ${name}`,
          ether(IP6, packet6(own6, "ff02::1", ICMPV6, claim, headers)),
        ]),
      ),
      "DHCP's source to a host": ether(IP, packet("0.0.0.0", db, UDP, data(transport(UDP, 67)))),
      "no address of IPv6": ether(IP6, datagram6(db6, 53, [], "::")),
      "fragment of another source": ether(IP, packet(other, db, UDP, data(looksAllowed), { id: 61, fragment: [3, false] })),
    };
    const allowed: Frames = {
      "own datagram": ether(IP, datagram(other, 99)),
      "own datagram of IPv6, tagged": ether(IP6, datagram6(other6, 99), [tag]),
      "own address by ARP": ether(ARP, data(arp(macOf(mac.pod), own))),
      "own address advertised": ether(
        IP6,
        packet6(own6, "ff02::1", ICMPV6, data(advertisement(macOf(mac.pod), own6)), [padding(60)]),
      ),
      "another protocol": ether(0x88b5, data([])),
    };
    expect(await arrived({ ...forbidden, ...allowed })).toEqual(Object.keys(allowed));
  });
});

function address16(text: string): readonly number[] {
  return ipv6(text, text, 0, []).slice(8, 24);
}
