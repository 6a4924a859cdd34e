// Tables of policies in the kernel: packets of a neighbour into a pod's namespace and out of it, compared with the judgement of the rules.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiledPlugin } from "../../lab/compiled.ts";
import { createPodNamespace, inHost, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { command, missing } from "../../lab/requires.ts";
import { callWith } from "../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../shim/testing/workshop.ts";
import type { NetlinkShim } from "../../../host/capabilities/firewall/kernel.ts";
import { changeTable, makeTable, replaceTable } from "../../../features/policies/node/pod-table.ts";
import {
  passes,
  policyObject,
  readable,
  tableOf,
  type TestPod,
} from "../../../features/policies/rules/testing/policy-objects.ts";
import type { PolicyTable } from "../../../features/policies/rules/table.ts";

let shop: Workshop;
let pod: PodNamespace;
let peer: PodNamespace;

const unavailable = missing("tables of policies", missingPrivateNamespaces, command("nft", "--version"));

/** The network namespace of the tests and of the shim, which is the node's here. */
const ownPath = "/proc/self/ns/net";

/** The pod has 10.0.0.1 and fd00::1 on net1; all other addresses are behind the peer. */
beforeAll(async () => {
  if (unavailable) return;
  shop = await openWorkshop();
  pod = createPodNamespace("policies");
  peer = createPodNamespace("peer");
  const [a, b] = [pod.name, peer.name];
  inHost([
    "sh",
    "-ec",
    `ip -n ${a} link add net1 type veth peer name net1 netns ${b}
     for n in ${a} ${b}; do ip netns exec $n sh -c 'echo 0 > /proc/sys/net/ipv6/conf/net1/accept_dad; echo 0 > /proc/sys/net/ipv4/conf/net1/rp_filter; echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'; done
     ip -n ${a} addr add 10.0.0.1/32 dev net1; ip -n ${a} addr add fd00::1/128 dev net1 nodad
     ip -n ${b} addr add 10.0.0.2/32 dev net1; ip -n ${b} addr add fd00::2/128 dev net1 nodad
     ip -n ${a} link set net1 up; ip -n ${b} link set net1 up
     ip -n ${a} route add default dev net1; ip -n ${a} -6 route add default dev net1
     ip -n ${b} route add default dev net1; ip -n ${b} -6 route add default dev net1
     mac() { ip -n $1 -o link show net1 | sed 's/.*ether \\([^ ]*\\).*/\\1/'; }
     ip -n ${b} neigh add 10.0.0.1 lladdr $(mac ${a}) dev net1; ip -n ${b} neigh add fd00::1 lladdr $(mac ${a}) dev net1`,
  ]);
});

afterAll(() => {
  shop?.dispose();
  pod?.dispose();
  peer?.dispose();
});

/** Runs nft in the pod, as an administrator would; `input` goes to `nft -f -`. */
function nft(args: readonly string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync("nsenter", [`--net=${pod.path}`, "--", "nft", ...args], {
    encoding: "utf8",
    input,
  });
  if (status !== 0) throw new Error(`nft ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Another table of the pod, behind the policies: it remembers the packets that passed them. */
const witness = `table inet witness {
  set seen4 { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  set seen6 { type ipv6_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  chain in { type filter hook input priority 100; iifname net1 add @seen4 { ip saddr . meta l4proto . th dport }; iifname net1 add @seen6 { ip6 saddr . meta l4proto . th dport }; }
  chain out { type filter hook postrouting priority 50; oifname net1 add @seen4 { ip daddr . meta l4proto . th dport }; oifname net1 add @seen6 { ip6 daddr . meta l4proto . th dport }; oifname net1 drop; }
}`;

interface Probe {
  readonly peer: string;
  readonly protocol: number;
  readonly port: number;
}

/** The probes that pass the table in a direction. Each is one packet of a connection of its own. */
function passed(direction: "in" | "out", probes: readonly Probe[]): readonly Probe[] {
  nft(["-f", "-"], `table inet witness\ndelete table inet witness\n${witness}`);
  const input = probes.map(({ peer: other, protocol, port }) => {
    const self = other.includes(":") ? "fd00::1" : "10.0.0.1";
    const [source, destination] = direction === "in" ? [other, self] : [self, other];
    return `${source} ${destination} ${protocol} 40000 ${port}\n`;
  });
  const from = direction === "in" ? peer : pod;
  const sent = spawnSync("nsenter", [`--net=${from.path}`, "--", compiledPlugin("inject")], {
    input: input.join(""),
    encoding: "utf8",
  });
  if (sent.status !== 0) throw new Error(`inject: ${sent.status} ${sent.stderr}`);
  const listed = nft(["-n", "list", "table", "inet", "witness"]);
  return probes.filter(
    ({ peer: other, protocol, port }) =>
      listed.includes(` ${other} . ${protocol} . ${port}`) || listed.includes(`\t${other} . ${protocol} . ${port}`),
  );
}

async function withShim(script: (shim: NetlinkShim) => Promise<void>): Promise<void> {
  await callWith((engine) => script(engine), { shim: shop.shim });
}

async function install(table: PolicyTable | undefined): Promise<void> {
  await withShim(async (shim) => expect(await replaceTable(shim, pod.path, table)).toEqual({ ok: true, value: undefined }));
}

/** Installs the table of a pod that has none as far as is known. */
async function make(table: PolicyTable | undefined): Promise<void> {
  if (table === undefined) throw new Error("the policies isolate nothing");
  await withShim(async (shim) => expect(await makeTable(shim, pod.path, table)).toEqual({ ok: true, value: undefined }));
}

/** The peers among two whose packets pass. */
function allowed(): readonly string[] {
  const two = ["10.0.0.3", "10.0.0.4"].map((each): Probe => ({ peer: each, protocol: 6, port: 80 }));
  return passed("in", two).map((each) => each.peer);
}

const pods: readonly TestPod[] = [
  {
    namespace: "a",
    labels: { app: "db" },
    addresses: ["10.0.0.3", "fd00::3"],
    ports: [
      { name: "sql", protocol: "TCP", port: 5432 },
      { name: "dns", protocol: "UDP", port: 53 },
    ],
  },
  { namespace: "a", labels: { app: "ui" }, addresses: ["10.0.0.4"], ports: [{ name: "sql", protocol: "TCP", port: 6000 }] },
  { namespace: "b", labels: { app: "db" }, addresses: ["10.0.0.5", "fd00::5"] },
];

const both = (rule: object, peers: readonly object[]): object => ({
  podSelector: {},
  policyTypes: ["Ingress", "Egress"],
  ingress: [{ ...rule, ...(peers.length === 0 ? {} : { from: peers }) }],
  egress: [{ ...rule, ...(peers.length === 0 ? {} : { to: peers }) }],
});
const db = { podSelector: { matchLabels: { app: "db" } } };
const blocks = [
  { ipBlock: { cidr: "10.1.0.0/16", except: ["10.1.2.0/24", "10.1.3.128/25"] } },
  { ipBlock: { cidr: "fd01::/64", except: ["fd01::8/125"] } },
  { ipBlock: { cidr: "10.1.2.7/32" } },
];

const policies: Readonly<Record<string, readonly object[]>> = {
  "nothing is allowed": [{ podSelector: {}, policyTypes: ["Ingress", "Egress"] }],
  "everything is allowed": [both({}, [])],
  "ingress alone is isolated": [{ podSelector: {} }],
  "pods of two namespaces": [both({}, [db, { namespaceSelector: { matchLabels: { team: "two" } } }])],
  "blocks with exceptions": [both({}, blocks)],
  "blocks to the last addresses": [
    both({}, [{ ipBlock: { cidr: "255.255.255.0/24" } }, { ipBlock: { cidr: "8000::/1" } }, { ipBlock: { cidr: "0.0.0.0/1" } }]),
  ],
  "all blocks": [both({}, [{ ipBlock: { cidr: "0.0.0.0/0" } }, { ipBlock: { cidr: "::/0" } }])],
  "ports, ranges and protocols": [
    both({ ports: [{ port: 80 }, { port: 100, endPort: 102 }, { protocol: "UDP", port: 53 }, { protocol: "SCTP" }] }, []),
  ],
  "ports of peers": [both({ ports: [{ port: 80 }, { protocol: "UDP" }] }, [db, ...blocks])],
  "named ports": [both({ ports: [{ port: "sql" }, { port: "dns", protocol: "UDP" }, { port: 100 }] }, [{ podSelector: {} }])],
  "two policies together": [both({ ports: [{ port: 80 }] }, [db]), both({ ports: [{ port: 101 }] }, blocks)],
};

const peers = [
  "10.0.0.3",
  "10.0.0.4",
  "10.0.0.5",
  "10.1.0.0",
  "10.1.1.255",
  "10.1.2.7",
  "10.1.2.8",
  "10.1.3.127",
  "10.1.3.128",
  "10.1.4.0",
  "10.2.0.0",
  "126.0.0.1",
  "129.0.0.1",
  "fd00::3",
  "fd00::5",
  "fd00::6",
  "fd01::7",
  "fd01::8",
  "fd01::10",
  "fd02::1",
  "2001:db8::1",
];
const services = [
  [6, 80],
  [6, 100],
  [6, 102],
  [6, 103],
  [6, 5432],
  [6, 6000],
  [17, 53],
  [17, 80],
  [132, 80],
  [1, 0],
] as const;
const probes = peers.flatMap((each) =>
  services.map(([protocol, port]): Probe => ({
    peer: each,
    protocol: protocol === 1 && each.includes(":") ? 58 : protocol,
    port,
  })),
);
const text = ({ peer: other, protocol, port }: Probe): string => `${other} ${protocol} ${port}`;

/** Runs a script with a UDP socket `s` in a network namespace. */
const node = (where: PodNamespace, script: string): ChildProcess => {
  const program = `const s = require("dgram").createSocket("udp4");${script}`;
  return spawn("nsenter", [`--net=${where.path}`, "--", process.execPath, "-e", program]);
};

describe.skipIf(unavailable)("a table of policies in the kernel", () => {
  test.each(Object.entries(policies))("PO-04 to PO-08: %s: packets pass in and out as the rules judge", async (_title, specs) => {
    const table = tableOf(
      specs.map((spec, index) => readable(policyObject(spec, `p${index}`))),
      pods,
      { ports: [{ name: "sql", protocol: "TCP", port: 5432 }] },
    );
    await install(table);
    for (const direction of ["in", "out"] as const) {
      const judged = probes.filter((each) =>
        passes(table, direction, each.peer, { protocol: each.protocol, port: each.port, more: { icmpType: 40_000 & 255 } }),
      );
      expect(passed(direction, probes).map(text)).toEqual(judged.map(text));
    }
  });

  test("PO-12: new peers change elements in place; a table that the pod has changed is made anew; other tables stay", async () => {
    const policy = [readable(policyObject({ podSelector: {}, ingress: [{ from: [db, { ipBlock: { cidr: "10.9.0.0/16" } }] }] }))];
    const [before, after] = [tableOf(policy, pods), tableOf(policy, pods.slice(1), { keepsIpv6: true })];
    await install(before);
    nft(["-f", "-"], "table inet others {\n chain c {\n counter\n }\n}\n");
    const handles = (): string => nft(["-a", "list", "table", "inet", "plexus-policies"]).replaceAll(/elements = \{[^}]*\}/g, "");
    const ruleHandles = handles();
    const change = (to: PolicyTable | undefined): Promise<void> =>
      withShim(async (shim) => expect(await changeTable(shim, pod.path, before, to)).toEqual({ ok: true, value: undefined }));
    await change(before);
    expect(passed("in", [{ peer: "10.0.0.3", protocol: 6, port: 80 }])).toHaveLength(1);
    await change(after);
    expect(passed("in", [{ peer: "10.0.0.3", protocol: 6, port: 80 }])).toEqual([]);
    expect(handles().replaceAll(/\n\s*\n/g, "\n")).toBe(ruleHandles.replaceAll(/\n\s*\n/g, "\n"));
    nft(["delete", "table", "inet", "plexus-policies"]);
    await change(after);
    expect(passed("in", [{ peer: "10.0.0.3", protocol: 6, port: 80 }])).toEqual([]);
    expect(passed("in", [{ peer: "10.9.0.3", protocol: 6, port: 80 }])).toHaveLength(1);
    await change(undefined);
    const listed = nft(["list", "tables"]);
    expect(listed).toContain("table inet others");
    expect(listed).not.toContain("plexus-policies");
    nft(["delete", "table", "inet", "others"]);
  });

  test("PO-09: replies pass a table that allows nothing in, and neighbours are found through it", async () => {
    nft(["flush", "ruleset"]);
    await install(tableOf([readable(policyObject({ podSelector: {}, policyTypes: ["Ingress"] }))], pods));
    inHost(["ip", "-n", peer.name, "neigh", "flush", "dev", "net1"]);
    inHost(["ip", "-n", pod.name, "neigh", "flush", "dev", "net1"]);
    expect([pod.ping("10.0.0.2"), pod.ping("fd00::2")]).toEqual([true, true]);
    expect(peer.ping("10.0.0.1")).toBe(false);
    await install(undefined);
    expect([peer.ping("10.0.0.1"), peer.ping("fd00::1")]).toEqual([true, true]);
  });

  test("PO-09: an open connection that no policy allows any more goes on with established: keep, and ends with established: end", async () => {
    nft(["flush", "ruleset"]);
    nft(
      ["-f", "-"],
      `table inet count {
         chain sent { type filter hook prerouting priority -400; udp dport 9 counter; }
         chain passed { type filter hook input priority 100; udp dport 9 counter; }
       }`,
    );
    const count = (chain: "sent" | "passed"): number =>
      Number(/packets (\d+)/u.exec(nft(["list", "chain", "inet", "count", chain]))?.[1]);
    const running = [
      node(pod, `s.on("message", (text, from) => s.send(text, from.port, from.address)); s.bind(9);`),
      node(peer, `setInterval(() => s.send("x", 9, "10.0.0.1", () => undefined), 10);`),
    ];
    const ofPeer = { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.2/32" } }] }] };
    const [open, closed] = [ofPeer, { podSelector: {}, ingress: [] }].map((spec) => [readable(policyObject(spec))]);
    /** Waits for 30 further packets of the peer, and answers how many of them passed. */
    const further = async (): Promise<number> => {
      const [sent, before] = [count("sent"), count("passed")];
      await expect.poll(() => count("sent"), { timeout: 60_000, interval: 20 }).toBeGreaterThan(sent + 30);
      return count("passed") - before;
    };
    try {
      await install(tableOf(open ?? [], pods));
      await expect.poll(() => count("passed"), { timeout: 60_000, interval: 20 }).toBeGreaterThan(5);
      await install(tableOf(closed ?? [], pods, { established: "keep" }));
      expect(await further()).toBeGreaterThan(20);
      await install(tableOf(closed ?? [], pods, { established: "end" }));
      expect(await further()).toBe(0);
    } finally {
      for (const each of running) each.kill("SIGKILL");
      nft(["flush", "ruleset"]);
    }
  });

  test("PO-13: the table is in force before its interface exists, and 65,536 peers are one batch", async () => {
    const peersOfPod: TestPod = {
      namespace: "a",
      labels: {},
      addresses: Array.from({ length: 65_536 }, (_, index) => `10.7.${index >> 8}.${index & 255}`),
    };
    await install(
      tableOf([readable(policyObject({ podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }))], [peersOfPod]),
    );
    expect(nft(["list", "chain", "inet", "plexus-policies", "input"])).toContain('iifname "net1"');
    expect(
      passed("in", [
        { peer: "10.7.255.255", protocol: 6, port: 80 },
        { peer: "10.8.0.0", protocol: 6, port: 80 },
      ]),
    ).toHaveLength(1);
    await install(undefined);
  });

  test("a first table is made without a removal, and replaces a table that is there after all", async () => {
    nft(["flush", "ruleset"]);
    const spec = { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] };
    const [one, other] = [pods.slice(0, 1), pods.slice(1, 2)].map((own) => tableOf([readable(policyObject(spec))], own));
    await make(one);
    expect(allowed()).toEqual(["10.0.0.3"]);
    await make(other);
    expect(allowed()).toEqual(["10.0.0.4"]);
    await install(undefined);
  });

  test("PO-10: DHCP passes a table that allows nothing between the addresses and ports of its protocol alone", async () => {
    nft(["flush", "ruleset"]);
    await install(tableOf([readable(policyObject({ podSelector: {}, policyTypes: ["Ingress", "Egress"] }))], pods));
    const linkLocal = /inet6 (fe80::[0-9a-f:]+)/u.exec(inHost(["ip", "-n", pod.name, "-6", "addr", "show", "dev", "net1"]))?.[1];
    const own = linkLocal ?? "";
    // The witness drops all that leaves the pod, so that neighbour discovery gets no answer.
    const mac = pod.links().find(({ name }) => name === "net1")?.mac ?? "";
    inHost(["ip", "-n", peer.name, "neigh", "replace", own, "lladdr", mac, "dev", "net1"]);
    const probesOf: readonly (readonly [
      "in" | "out",
      from: string,
      to: string,
      source: number,
      port: number,
      isOpen: boolean,
    ])[] = [
      ["in", "10.0.0.9", "255.255.255.255", 67, 68, true],
      ["in", "10.0.0.9", "10.0.0.1", 67, 68, false],
      ["in", "10.0.0.9", "255.255.255.255", 1067, 68, false],
      ["in", "10.0.0.9", "255.255.255.255", 67, 69, false],
      ["in", "fe80::9", own, 547, 546, true],
      ["in", "fe80::9", "fd00::1", 547, 546, false],
      ["in", "fd00::9", own, 547, 546, false],
      ["out", "10.0.0.1", "255.255.255.255", 68, 67, true],
      ["out", "10.0.0.1", "10.0.0.9", 68, 67, false],
      ["out", "10.0.0.1", "255.255.255.255", 68, 53, false],
      ["out", own, "ff02::1:2", 546, 547, true],
      ["out", own, "ff02::1", 546, 547, false],
      ["out", "fd00::1", "ff02::1:2", 546, 547, false],
    ];
    for (const [direction, from, to, source, port, isOpen] of probesOf) {
      nft(["-f", "-"], `table inet witness\ndelete table inet witness\n${witness}`);
      const sender = direction === "in" ? peer : pod;
      const inject = ["nsenter", `--net=${sender.path}`, "--", compiledPlugin("inject"), "net1"];
      const sent = spawnSync(inject[0] ?? "", inject.slice(1), {
        input: `${from} ${to} 17 ${source} ${port}\n`,
        encoding: "utf8",
      });
      expect({ status: sent.status, stderr: sent.stderr }).toEqual({ status: 0, stderr: "" });
      const seen = (): boolean =>
        nft(["-n", "list", "table", "inet", "witness"]).includes(`${direction === "in" ? from : to} . 17 . ${port}`);
      const packet = `${direction} ${from} ${to} ${source} ${port}`;
      await expect.poll(() => `${packet} ${seen()}`).toBe(`${packet} ${isOpen}`);
    }
    await install(undefined);
  });

  test("L-07: the node's own network namespace under another path gets no table", async () => {
    const table = tableOf([readable(policyObject({ podSelector: {} }))], pods);
    if (table === undefined) throw new Error("the policy isolates nothing");
    await withShim(async (shim) => {
      for (const written of [await makeTable(shim, ownPath, table), await replaceTable(shim, ownPath, table)])
        expect(written).toMatchObject({ ok: false, fault: { code: 4, msg: expect.stringContaining("is the node's own") } });
    });
    expect(inHost(["nft", "list", "tables"])).not.toContain("plexus-policies");
  });

  test("a refusal of the kernel is a fault that names the action", async () => {
    await withShim(async (shim) => {
      const refused = await replaceTable(
        shim,
        "/run/netns/no-such-namespace",
        tableOf([readable(policyObject({ podSelector: {} }))], pods),
      );
      expect(refused).toMatchObject({ ok: false, fault: { kind: "FIREWALL_FAILED" } });
    });
  });
});
