// The decisions of compiled tables, and the form of the tables.

import { describe, expect, test } from "vitest";
import { compile } from "./compile.ts";
import { elementChanges, shapeOf } from "./table.ts";
import { judgePacket } from "./judge-packet.ts";
import { isolatedDirections } from "./table-report.ts";
import { address, passes, policyObject, readable, tableOf, type TestPod } from "./testing/policy-objects.ts";

const pods: readonly TestPod[] = [
  {
    namespace: "a",
    labels: { app: "db" },
    addresses: ["10.0.0.2", "fd00::2"],
    ports: [{ name: "sql", protocol: "TCP", port: 5432 }],
  },
  { namespace: "a", labels: { app: "ui" }, addresses: ["10.0.0.3"], ports: [{ name: "sql", protocol: "TCP", port: 6000 }] },
  { namespace: "b", labels: { app: "db" }, addresses: ["10.0.0.4"] },
  { namespace: "a", labels: { app: "db" }, addresses: ["10.9.0.5"], network: "a/blue" },
];

type Case = readonly [title: string, specs: readonly object[], passing: readonly string[], stopped: readonly string[]];

const only = (member: "ingress" | "egress", ...rules: readonly object[]): object => ({
  podSelector: {},
  policyTypes: [member === "ingress" ? "Ingress" : "Egress"],
  [member]: rules,
});

/** Pods of a namespace, with addresses from this number on. */
const peersOf = (namespace: string, count: number, from: number): readonly TestPod[] =>
  Array.from({ length: count }, (_, index) => {
    const serial = from + index;
    return { namespace, labels: {}, addresses: [`10.${(serial >> 16) & 255}.${(serial >> 8) & 255}.${serial & 255}`] };
  });

const fromAll = (name: string): object => policyObject(only("ingress", { from: [{ namespaceSelector: {} }] }), name);

/** `in 10.0.0.2 80`: a packet from this peer to this TCP port; `udp` before the port for UDP. */
function judged(table: ReturnType<typeof tableOf>, text: string): boolean {
  const [direction, peer = "", ...ports] = text.split(" ");
  const protocol = { tcp: 6, udp: 17, sctp: 132, icmp: 1 }[ports.length === 2 ? (ports[0] ?? "") : "tcp"] ?? 6;
  return passes(table, direction === "in" ? "in" : "out", peer, { protocol, port: Number(ports.at(-1) ?? 80) });
}

const cases: readonly Case[] = [
  ["PO-04: no rule stops all", [only("ingress")], ["out 10.0.0.2"], ["in 10.0.0.2", "in fd00::2", "in 1.1.1.1 icmp 0"]],
  [
    "PO-04: an empty rule allows all",
    [only("ingress", {})],
    ["in 10.0.0.2", "in fd00::2", "in 9.9.9.9 udp 1", "in 9.9.9.9 icmp 0"],
    [],
  ],
  [
    "PO-03: a selector that does not select the pod isolates nothing",
    [{ podSelector: { matchLabels: { app: "db" } } }],
    ["in 1.1.1.1"],
    [],
  ],
  [
    "PO-05: policies add up",
    [only("ingress"), only("ingress", { ports: [{ port: 80 }] }), only("ingress", { ports: [{ port: 81 }] })],
    ["in 10.0.0.2 80", "in 10.0.0.2 81"],
    ["in 10.0.0.2 82"],
  ],
  ["PO-05: a direction alone is isolated", [only("egress")], ["in 10.0.0.2"], ["out 10.0.0.2"]],
  [
    "PO-06: a pod selector finds pods of the policy's namespace and network",
    [only("ingress", { from: [{ podSelector: { matchLabels: { app: "db" } } }] })],
    ["in 10.0.0.2", "in fd00::2"],
    ["in 10.0.0.3", "in 10.0.0.4", "in 10.9.0.5"],
  ],
  [
    "PO-06: a namespace selector finds all its pods",
    [only("ingress", { from: [{ namespaceSelector: { matchLabels: { team: "two" } } }] })],
    ["in 10.0.0.4"],
    ["in 10.0.0.2"],
  ],
  [
    "PO-06: both selectors of one entry must select",
    [only("ingress", { from: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: "db" } } }] })],
    ["in 10.0.0.2", "in 10.0.0.4"],
    ["in 10.0.0.3"],
  ],
  [
    "PO-06: entries are alternatives",
    [
      only("egress", {
        to: [{ podSelector: { matchLabels: { app: "ui" } } }, { namespaceSelector: { matchLabels: { team: "two" } } }],
      }),
    ],
    ["out 10.0.0.3", "out 10.0.0.4"],
    ["out 10.0.0.2"],
  ],
  [
    "PO-07: blocks with exceptions, of both families",
    [
      only("ingress", {
        from: [
          { ipBlock: { cidr: "10.1.0.0/16", except: ["10.1.2.0/24", "10.1.3.0/24"] } },
          { ipBlock: { cidr: "fd01::/64", except: ["fd01::8/125"] } },
          { ipBlock: { cidr: "10.1.3.7/32" } },
        ],
      }),
    ],
    ["in 10.1.1.255", "in 10.1.4.0", "in 10.1.3.7", "in fd01::7", "in fd01::10"],
    ["in 10.1.2.0", "in 10.1.3.255", "in 10.2.0.0", "in fd01::8", "in fd01::f", "in fd02::1"],
  ],
  [
    "PO-07: a block of everything",
    [only("ingress", { from: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["255.255.255.0/24"] } }] })],
    ["in 0.0.0.0", "in 255.255.254.255"],
    ["in 255.255.255.255", "in fd00::2"],
  ],
  [
    "PO-08: numbers, ranges, protocols",
    [
      only("ingress", {
        ports: [{ port: 80 }, { port: 100, endPort: 102 }, { protocol: "UDP", port: 53 }, { protocol: "SCTP" }],
      }),
    ],
    ["in 1.1.1.1 80", "in 1.1.1.1 100", "in fd00::9 102", "in 1.1.1.1 udp 53", "in 1.1.1.1 sctp 7"],
    ["in 1.1.1.1 81", "in 1.1.1.1 103", "in 1.1.1.1 udp 80", "in 1.1.1.1 icmp 0"],
  ],
  [
    "PO-08: ports and peers must both allow",
    [only("egress", { to: [{ podSelector: { matchLabels: { app: "db" } } }], ports: [{ port: 80 }, { port: 443 }] })],
    ["out 10.0.0.2 80", "out 10.0.0.2 443", "out fd00::2 80"],
    ["out 10.0.0.2 81", "out 10.0.0.3 80"],
  ],
  [
    "PO-08: a name is the pod's own port in ingress",
    [only("ingress", { ports: [{ port: "web" }] })],
    ["in 1.1.1.1 8080"],
    ["in 1.1.1.1 80", "in 1.1.1.1 udp 8080"],
  ],
  [
    "PO-08: a name that no container has allows nothing",
    [only("ingress", { ports: [{ port: "none" }] })],
    [],
    ["in 1.1.1.1 8080"],
  ],
  [
    "PO-08: a name is the peer's port in egress, each peer's its own",
    [only("egress", { to: [{ podSelector: {} }], ports: [{ port: "sql" }, { port: 22 }] })],
    ["out 10.0.0.2 5432", "out fd00::2 5432", "out 10.0.0.3 6000", "out 10.0.0.3 22"],
    ["out 10.0.0.2 6000", "out 10.0.0.3 5432", "out 10.0.0.4 22", "out 8.8.8.8 5432"],
  ],
  [
    "PO-08: a name in egress to all peers",
    [only("egress", { ports: [{ port: "sql" }] })],
    ["out 10.0.0.2 5432"],
    ["out 10.0.0.4 5432", "out 8.8.8.8 5432"],
  ],
];

const icmp6 = (icmpType: number, hopLimit = 255): object => ({ protocol: 58, more: { icmpType, hopLimit } });
const dhcp = (sourcePort: number, port: number): object => ({ protocol: 17, port, more: { sourcePort } });

test.each(cases)("%s", (_title, specs, passing, stopped) => {
  const policies = specs.map((spec, index) => readable(policyObject(spec, `p${index}`)));
  const table = tableOf(policies, pods, { ports: [{ name: "web", protocol: "TCP", port: 8080 }] });
  expect(passing.filter((each) => !judged(table, each))).toEqual([]);
  expect(stopped.filter((each) => judged(table, each))).toEqual([]);
});

describe("a compiled table", () => {
  const denyAll = [readable(policyObject({ podSelector: {}, policyTypes: ["Ingress", "Egress"] }))];

  test("PO-09: replies pass; with `end`, a connection's own direction is judged packet by packet", () => {
    const reply = { more: { state: "established", isReply: true } } as const;
    const further = { more: { state: "established" } } as const;
    const keep = tableOf(denyAll, pods);
    const end = tableOf(denyAll, pods, { established: "end" });
    expect([passes(keep, "in", "1.1.1.1", reply), passes(keep, "in", "1.1.1.1", further)]).toEqual([true, true]);
    expect([passes(end, "in", "1.1.1.1", reply), passes(end, "in", "1.1.1.1", further)]).toEqual([true, false]);
    expect(passes(end, "in", "1.1.1.1", { protocol: 1, more: { state: "related" } })).toBe(true);
  });

  test("PO-10: neighbour discovery, router advertisements and DHCP stay open, and nothing beside them", () => {
    const table = tableOf(denyAll, pods);
    expect(passes(table, "in", "fd00::9", icmp6(135))).toBe(true);
    expect(passes(table, "out", "fd00::9", icmp6(136))).toBe(true);
    expect(passes(table, "in", "fe80::9", icmp6(134))).toBe(true);
    const judgedBetween = (
      direction: "in" | "out",
      source: string,
      destination: string,
      more: Parameters<typeof passes>[3],
    ): boolean =>
      passes(table, direction, direction === "in" ? source : destination, {
        ...more,
        more: { ...more?.more, source: address(source), destination: address(destination) },
      });
    expect(judgedBetween("in", "10.0.0.9", "255.255.255.255", dhcp(67, 68))).toBe(true);
    expect(judgedBetween("in", "fe80::9", "fe80::5", dhcp(547, 546))).toBe(true);
    expect(judgedBetween("out", "fe80::5", "ff02::1:2", dhcp(546, 547))).toBe(true);
    expect(judgedBetween("out", "fe80::5", "ff02::2", icmp6(133))).toBe(true);
    expect(judgedBetween("out", "fe80::5", "ff02::16", icmp6(143))).toBe(true);
    // A container with the port must hear no other pod by it, and reach none.
    expect(judgedBetween("in", "10.0.0.9", "10.0.0.5", dhcp(67, 68))).toBe(false);
    expect(judgedBetween("in", "fe80::9", "fd00::5", dhcp(547, 546))).toBe(false);
    expect(judgedBetween("out", "fd00::5", "ff02::1:2", dhcp(546, 547))).toBe(false);
    expect(judgedBetween("out", "fe80::5", "ff02::1", dhcp(546, 547))).toBe(false);
    expect(judgedBetween("out", "fe80::5", "fd00::9", icmp6(133))).toBe(false);
    expect(judgedBetween("out", "fe80::5", "ff02::1", icmp6(143))).toBe(false);
    expect(passes(table, "out", "255.255.255.255", dhcp(68, 67))).toBe(true);
    expect(passes(table, "in", "fd00::9", icmp6(135, 64))).toBe(false);
    expect(passes(table, "in", "fd00::9", icmp6(134))).toBe(false);
    expect(passes(table, "in", "fd00::9", icmp6(128))).toBe(false);
    expect(passes(table, "out", "10.0.0.9", dhcp(68, 67))).toBe(false);
    expect(passes(table, "out", "fd00::9", dhcp(546, 547))).toBe(false);
  });

  test("PO-12: peers that come and go change elements only, and the number of rules does not grow with them", () => {
    const policy = [readable(policyObject(only("ingress", { from: [{ podSelector: {} }], ports: [{ port: 80 }] })))];
    const [few, many] = [2, 500].map((count) =>
      tableOf(
        policy,
        Array.from({ length: count }, (_, index) => ({
          namespace: "a",
          labels: {},
          addresses: [`10.0.${index >> 8}.${index & 255}`],
        })),
      ),
    );
    if (few === undefined || many === undefined) throw new TypeError("no table");
    expect(shapeOf(many)).toBe(shapeOf(few));
    expect(elementChanges(few, many).map(({ set, added, removed }) => [set.name, added.length, removed.length])).toEqual([
      ["in/net1/mnp.p/0/pods4", 498, 0],
    ]);
    expect(elementChanges(many, few).map(({ added, removed }) => [added.length, removed.length])).toEqual([[0, 498]]);
    expect(elementChanges(few, few)).toEqual([]);
  });

  test("PO-12: peers without an IPv6 address need no IPv6 sets, and IPv6 packets stay forbidden; the first such peer brings all of them", () => {
    const [db, ui] = ["db", "ui"].map((app) => ({ podSelector: { matchLabels: { app } } }));
    const specs = [
      only("ingress", { from: [db], ports: [{ port: 80 }] }),
      only("egress", { to: [ui], ports: [{ port: "sql" }] }),
    ];
    const policies = specs.map((spec, index) => readable(policyObject(spec, `p${index}`)));
    const [ofIpv4, ofBoth] = [pods.slice(1), pods].map((peers) => tableOf(policies, peers));
    const families = [ofIpv4, ofBoth].map((table) => table?.sets.map(({ family }) => family));
    expect(families).toEqual([
      [4, 4],
      [4, 6, 4, 6],
    ]);
    const ipv6 = ["in fd00::2 80", "out fd00::2 5432", "out fd00::3 6000"];
    expect(ipv6.filter((each) => judged(ofIpv4, each))).toEqual([]);
    expect([judged(ofBoth, "in fd00::2 80"), judged(ofBoth, "in fd00::3 80")]).toEqual([true, false]);
    // The last peer with an IPv6 address changes elements only.
    const left = tableOf(policies, pods.slice(1), { keepsIpv6: true });
    if (ofBoth === undefined || left === undefined) throw new TypeError("no table");
    expect(shapeOf(left)).toBe(shapeOf(ofBoth));
    expect(ipv6.filter((each) => judged(left, each))).toEqual([]);
  });

  test.each([
    { ports: [80], chains: 0, rules: 2 },
    { ports: [80, 443, 8080], chains: 1, rules: 5 },
  ])("rules of a policy for $ports and peers of both families: $rules, with $chains chains of their own", (shape) => {
    const spec = only("ingress", { from: [{ podSelector: {} }], ports: shape.ports.map((port) => ({ port })) });
    const table = tableOf([readable(policyObject(spec))], pods);
    const own = table?.chains.filter(({ name }) => name.startsWith("in/net1/mnp.p")) ?? [];
    expect({ ...shape, chains: own.length - 1, rules: own.flatMap(({ rules }) => rules).length }).toEqual(shape);
  });

  test("no policy is no table", () => {
    expect(tableOf([], pods)).toBeUndefined();
  });

  test("other interfaces of the pod stay open, and forwarded packets are judged in both directions", () => {
    const table = tableOf(denyAll, pods);
    expect(passes(table, "in", "1.1.1.1", { more: { ifname: "eth0" } })).toBe(true);
    expect(table?.chains.flatMap(({ hook }) => (hook === undefined ? [] : [`${hook.at} ${hook.priority}`]))).toEqual([
      "input 0",
      "forward 0",
      "postrouting 0",
    ]);
  });

  test("PO-11: packets to an interface that the pod has in a VRF are judged as others: the kernel names the VRF as their interface", () => {
    const table = tableOf([readable(policyObject({ podSelector: {}, policyTypes: ["Ingress", "Egress"] }))], pods);
    const jumps = (table?.chains ?? []).flatMap(({ hook, rules }) =>
      hook === undefined
        ? []
        : rules.map(({ matches, end }) => [hook.at, ...matches.map(({ kind }) => kind), end.kind === "jump" && end.chain]),
    );
    expect(jumps).toEqual([
      ["input", "interface", "in/net1"],
      ["input", "vrf-port", "in/net1"],
      ["forward", "interface", "in/net1"],
      ["forward", "vrf-port", "in/net1"],
      ["postrouting", "interface", "out/net1"],
    ]);
    expect(isolatedDirections(table ?? { chains: [], sets: [] }).map(({ direction }) => direction)).toEqual([
      "ingress",
      "egress",
    ]);
  });

  test("PO-17: a table has its bounds, with the numbers in the problem", () => {
    const link = { ifname: "net1", networks: ["a/red"] };
    const policies = (count: number, spec: object): Parameters<typeof compile>[0]["interfaces"] => [
      {
        link,
        policies: Array.from({ length: count }, (_, index) => ({
          policy: readable(policyObject(spec, `p${index}`)),
          network: "a/red",
        })),
      },
    ];
    const init = { ports: [], findPeers: () => [], established: "keep" } as const;
    expect(compile({ ...init, interfaces: policies(257, {}) })).toMatchObject({
      problem: expect.stringContaining("257 policies"),
    });
    const ports = Array.from({ length: 128 }, (_, index) => ({ port: index + 1 }));
    const long = only("ingress", ...Array.from({ length: 128 }, () => ({ ports })));
    expect(compile({ ...init, interfaces: policies(2, long) })).toMatchObject({
      problem: expect.stringContaining("rules; Plexus allows 16384"),
    });
    const peer = {
      addresses: Array.from({ length: 65_537 }, (_, index) => ({ family: 4 as const, value: BigInt(index) })),
      ports: [],
    };
    const toAll = only("ingress", { from: [{ podSelector: {} }] });
    expect(compile({ ...init, findPeers: () => [peer], interfaces: policies(1, toAll) })).toMatchObject({
      problem: expect.stringMatching(/65537 peers.*MultiNetworkPolicy a\/p0 has the most: 65537/u),
    });
  });

  test("PO-17: pods of one namespace do not take the place of other namespaces' peers: each has a share, and what is beyond is named", () => {
    const all = [...peersOf("greedy", 70_000, 0), ...peersOf("b", 2, 100_000), ...peersOf("a", 3, 200_000)];
    const table = tableOf([readable(fromAll("one")), readable(fromAll("two"))], all);
    const passing = all.slice(-6).filter(({ addresses: [each = ""] }) => passes(table, "in", each));
    expect(passing.map(({ namespace }) => namespace)).toEqual(["b", "b", "a", "a", "a"]);
    expect(table?.sets.reduce((sum, { elements }) => sum + elements.size, 0)).toBe(65_536);
    expect(table?.omitted).toEqual([
      { policy: "MultiNetworkPolicy one", namespace: "greedy", peers: 70_000 - (65_536 - 10) },
      { policy: "MultiNetworkPolicy two", namespace: "greedy", peers: 70_000 },
    ]);
  });

  test("PO-18: a judgement names the policy that allows, or the chain that stops", () => {
    const table = tableOf([readable(policyObject(only("ingress", { from: [{ podSelector: {} }] }), "open-db"))], pods);
    if (table === undefined) throw new TypeError("no table");
    const packet = {
      direction: "in",
      ifname: "net1",
      destination: address("10.0.0.1"),
      protocol: 6,
      destinationPort: 80,
      state: "new",
    } as const;
    expect(judgePacket(table, { ...packet, source: address("10.0.0.2") })).toMatchObject({
      accepted: true,
      path: [{ chain: "input" }, { chain: "in/net1", comment: "MultiNetworkPolicy open-db" }, { chain: "in/net1/mnp.open-db" }],
    });
    expect(judgePacket(table, { ...packet, source: address("10.0.0.4") })).toMatchObject({
      accepted: false,
      path: [{ chain: "input" }, { chain: "in/net1" }],
    });
  });
});
