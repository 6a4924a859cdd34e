// Rules in the kernel, in private namespaces; nft(8) shows the installed rules.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { command, missing } from "../../../lab/requires.ts";
import { createRuleNode, type RuleNode } from "../../../lab/rule-node.ts";
import type { FirewallPortMapping, FirewallRules } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { type Firewall, firewallFor, type FirewallScope } from "../../../../host/capabilities/firewall/scope.ts";

let shop: Workshop;
let node: RuleNode;
beforeAll(async () => {
  shop = await openWorkshop();
  if (missingPrivateNamespaces() === undefined) node = createRuleNode();
});
afterAll(() => {
  shop.dispose();
  node?.dispose();
});

const first: FirewallScope = {
  type: "portmap",
  network: "pods",
  verb: "add",
  attachment: { containerId: "pod-1", ifname: "eth0" },
  grant: { masquerade: true, hostPorts: ["1-65535"] },
  facts: { addresses: ["10.1.0.5/24", "fd00:1::5/64", "10.1.0.6"], hostVeths: [] },
};
const second: FirewallScope = { ...first, attachment: { containerId: "pod-2", ifname: "eth0" } };
const nothing: FirewallRules = { masquerades: [], portMappings: [] };
const done = { ok: undefined };

function mapping(more: Partial<FirewallPortMapping> = {}): FirewallPortMapping {
  return { protocol: "tcp", hostPort: 8080, podAddress: "10.1.0.5/24", podPort: 80, masquerading: "local", ...more };
}

/** The rules for one mapping. */
function mapped(more: Partial<FirewallPortMapping> = {}): FirewallRules {
  return { masquerades: [], portMappings: [mapping(more)] };
}

/** Rules of every kind. */
const all: FirewallRules = {
  masquerades: [{ address: "10.1.0.5/24" }, { address: "fd00:1::5/64" }, { address: "10.1.0.6/24" }],
  portMappings: [
    mapping(),
    mapping({ protocol: "udp", hostAddress: "192.0.2.1", hostPort: 53, podPort: 5353, masquerading: "none" }),
    mapping({ protocol: "sctp", podAddress: "fd00:1::5/64", masquerading: "all" }),
    mapping({ hostAddress: "2001:db8::1", hostPort: 443, podAddress: "fd00:1::5/64" }),
  ],
};

function nft(...args: string[]): string {
  return node.nft(args);
}

function ruleset(): string {
  return nft("list", "ruleset");
}

/** The rules of one chain, as nft prints them. */
function chain(family: "ip" | "ip6", name: string): string[] {
  const listed = node.tryNft(["list", "chain", family, "plexus", name]);
  return listed
    .split("\n")
    .map((line) => line.trim())
    .slice(2, -3);
}

async function withFirewall(script: (firewall: (scope: FirewallScope) => Firewall) => Promise<void>): Promise<void> {
  await callWith((engine) => script((scope) => firewallFor(scope, engine)), { shim: shop.shim, netns: node.path });
}

describe.skipIf(missing("nftables", missingPrivateNamespaces, command("nft", "--version")))("the firewall", () => {
  afterEach(() => nft("flush", "ruleset"));

  test("installs rules of every kind, recognizes them, and removes them", async () => {
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(all)).toEqual(done);
      expect(chain("ip", "ports/portmap/pods/pod-1/eth0")).toEqual([
        'tcp dport 8080 dnat to 10.1.0.5:80 comment "tcp any 8080 to 10.1.0.5/24 80 masquerading local"',
        'udp dport 53 ip daddr 192.0.2.1 dnat to 10.1.0.5:5353 comment "udp 192.0.2.1 53 to 10.1.0.5/24 5353 masquerading none"',
      ]);
      expect(chain("ip", "answers/portmap/pods/pod-1/eth0")).toEqual([
        "meta l4proto tcp ct original proto-dst 8080 ip daddr 10.1.0.5 ip saddr 10.1.0.0/24 masquerade",
        "meta l4proto tcp ct original proto-dst 8080 ip daddr 10.1.0.5 ip saddr 127.0.0.1 masquerade",
      ]);
      expect(chain("ip6", "ports/portmap/pods/pod-1/eth0")).toEqual([
        'sctp dport 8080 dnat to [fd00:1::5]:80 comment "sctp any 8080 to fd00:1::5/64 80 masquerading all"',
        'tcp dport 443 ip6 daddr 2001:db8::1 dnat to [fd00:1::5]:80 comment "tcp 2001:db8::1 443 to fd00:1::5/64 80 masquerading local"',
      ]);
      expect(chain("ip6", "answers/portmap/pods/pod-1/eth0")).toEqual([
        "meta l4proto sctp ct original proto-dst 8080 ip6 daddr fd00:1::5 masquerade",
        "meta l4proto tcp ct original proto-dst 443 ct original ip6 daddr 2001:db8::1 ip6 daddr fd00:1::5 ip6 saddr fd00:1::/64 masquerade",
      ]);
      expect(chain("ip6", "source/portmap/pods/pod-1/eth0")).toEqual([
        'ip6 saddr fd00:1::5 ip6 daddr != fd00:1::/64 ip6 daddr != ff00::/8 masquerade comment "fd00:1::5/64"',
      ]);
      expect(await firewall({ ...first, verb: "check" }).check(all)).toEqual({ ok: true });
      expect(await firewall({ ...first, verb: "del" }).remove()).toEqual(done);
      expect(ruleset()).not.toContain("pod-1");
      expect(await firewall(first).check(nothing)).toEqual({ ok: true });
      expect(await firewall(first).check(all)).toEqual({ ok: false });
      expect(await firewall({ ...first, verb: "del" }).remove()).toEqual(done);
    });
  });

  test("installs rules that nft can list and load again", async () => {
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(all)).toEqual(done);
      const listed = ruleset();
      nft("flush", "ruleset");
      node.nft(["-f", "-"], listed);
      expect(ruleset()).toBe(listed);
      expect(await firewall(first).check(all)).toEqual({ ok: true });
    });
  });

  test("replaces all earlier rules in both families, and changes nothing of other attachments and tables", async () => {
    node.nft(["-f", "-"], "table ip other {\n chain c {\n type nat hook prerouting priority dstnat;\n }\n}\n");
    await withFirewall(async (firewall) => {
      expect(await firewall(second).replace(mapped({ hostPort: 9090 }))).toEqual(done);
      const before = ruleset();
      expect(await firewall(first).replace(all)).toEqual(done);
      expect(await firewall(first).replace(mapped({ hostPort: 81 }))).toEqual(done);
      expect(await firewall(first).check(mapped({ hostPort: 81 }))).toEqual({ ok: true });
      expect(nft("list", "table", "ip6", "plexus")).not.toContain("pod-1");
      expect(await firewall(first).replace(nothing)).toEqual(done);
      nft("delete", "table", "ip6", "plexus");
      expect(ruleset()).toBe(before);
    });
  });

  test("refuses a port of another attachment, and names that attachment", async () => {
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(mapped())).toEqual(done);
      const refused = await firewall(second).replace({ masquerades: [], portMappings: [mapping({ hostPort: 81 }), mapping()] });
      expect(refused).toMatchObject({
        err: { code: 11, msg: "firewall: host port 8080/tcp is already mapped to pod-1/eth0 of the network pods (portmap)" },
      });
      expect(ruleset()).not.toContain("pod-2");
      for (const other of [{ protocol: "udp" }, { hostPort: 8081 }] as const)
        expect(await firewall(second).replace(mapped(other))).toEqual(done);
      expect(await firewall(second).replace(mapped({ podAddress: "fd00:1::5/64" }))).toEqual(done);
      expect(await firewall(first).replace(nothing)).toEqual(done);
      expect(await firewall(second).replace(mapped())).toEqual(done);
    });
  });

  test("allows one port at several addresses of the node, but then not at all addresses", async () => {
    const [one, two] = [mapped({ hostAddress: "192.0.2.1" }), mapped({ hostAddress: "192.0.2.2" })];
    const third: FirewallScope = { ...first, attachment: { containerId: "pod-3", ifname: "eth0" } };
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(one)).toEqual(done);
      expect(await firewall(second).replace(two)).toEqual(done);
      expect(await firewall(third).replace(one)).toMatchObject({ err: { msg: expect.stringContaining("to pod-1/eth0 ") } });
      expect(await firewall(third).replace(mapped())).toMatchObject({
        err: { msg: expect.stringContaining("is already mapped") },
      });
      expect(await firewall(first).replace(nothing)).toEqual(done);
      expect(await firewall(third).replace(mapped())).toMatchObject({ err: { msg: expect.stringContaining("to pod-2/eth0 ") } });
      expect(await firewall(second).replace(nothing)).toEqual(done);
      expect(await firewall(third).replace(mapped())).toEqual(done);
      expect(await firewall(first).replace(one)).toMatchObject({ err: { msg: expect.stringContaining("to pod-3/eth0 ") } });
      // One attachment may have both.
      const both: FirewallRules = { masquerades: [], portMappings: [mapping(), ...one.portMappings] };
      expect(await firewall(third).replace(both)).toEqual(done);
      expect(await firewall(third).check(both)).toEqual({ ok: true });
      expect(await firewall(second).replace(two)).toMatchObject({ err: { msg: expect.stringContaining("to pod-3/eth0 ") } });
      expect(await firewall(third).replace(one)).toEqual(done);
      expect(await firewall(second).replace(two)).toEqual(done);
      expect(await firewall(second).replace(nothing)).toEqual(done);
      expect(await firewall(third).replace(nothing)).toEqual(done);
      expect(nft("list", "map", "ip", "plexus", "hostports")).not.toContain("elements");
    });
  });

  test("supports several attachments of one address, and removes them in any order", async () => {
    const other: FirewallScope = { ...first, network: "elsewhere" };
    const rules: FirewallRules = { masquerades: [{ address: "10.1.0.5/24" }], portMappings: [mapping()] };
    const others: FirewallRules = { masquerades: [{ address: "10.1.0.5/16" }], portMappings: [mapping({ hostPort: 81 })] };
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(rules)).toEqual(done);
      expect(await firewall(first).replace(nothing)).toEqual(done);
      for (const [one, rulesOfOne, two, rulesOfTwo] of [
        [first, rules, other, others],
        [other, others, first, rules],
      ] as const) {
        const before = ruleset();
        expect(await firewall(first).replace(rules)).toEqual(done);
        expect(await firewall(other).replace(others)).toEqual(done);
        expect(chain("ip", "sources-more")).toEqual(["ip saddr 10.1.0.5 jump source/portmap/elsewhere/pod-1/eth0"]);
        expect(chain("ip", "answers-more")).toEqual(["ip daddr 10.1.0.5 jump answers/portmap/elsewhere/pod-1/eth0"]);
        expect(await firewall(one).check(rulesOfOne)).toEqual({ ok: true });
        expect(await firewall(two).check(rulesOfTwo)).toEqual({ ok: true });
        expect(await firewall(one).replace(nothing)).toEqual(done);
        expect(await firewall(two).check(rulesOfTwo)).toEqual({ ok: true });
        expect(await firewall(two).replace(nothing)).toEqual(done);
        expect(ruleset()).toBe(before);
      }
    });
  });

  test.each([
    ["an element is gone", ["delete", "element", "ip", "plexus", "hostports", "{ tcp . 8080 }"]],
    ["a rule is gone", ["flush", "chain", "ip", "plexus", "ports/portmap/pods/pod-1/eth0"]],
    ["there is a further rule", ["add", "rule", "ip", "plexus", "ports/portmap/pods/pod-1/eth0", "drop"]],
    ["nothing leads to the maps", ["flush", "chain", "ip", "plexus", "prerouting"]],
    ["the tables are gone", ["flush", "ruleset"]],
  ] as const)("detects that %s, and repairs it", async (_about, [verb, ...args]) => {
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(all)).toEqual(done);
      nft(verb, ...args);
      expect(await firewall(first).check(all)).toEqual({ ok: false });
      expect(await firewall(first).replace(all)).toEqual(done);
      expect(await firewall(first).check(all)).toEqual({ ok: true });
    });
  });

  test("detects rules that differ from the expected ones", async () => {
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(mapped())).toEqual(done);
      const others = [{ hostPort: 8081 }, { podPort: 81 }, { protocol: "udp" }, { hostAddress: "192.0.2.1" }] as const;
      for (const more of [...others, { masquerading: "none" }, { podAddress: "10.1.0.6/24" }] as const)
        expect(await firewall(first).check(mapped(more))).toEqual({ ok: false });
      expect(await firewall(first).check({ ...mapped(), masquerades: [{ address: "10.1.0.5/24" }] })).toEqual({ ok: false });
    });
  });

  test("collects the rules of this delegate and network without a valid attachment, and nothing else", async () => {
    const long: FirewallScope = { ...first, attachment: { containerId: "c".repeat(200), ifname: 'e"$0' } };
    const others = [
      { ...first, network: "elsewhere" },
      { ...first, type: "bridge" },
    ];
    await withFirewall(async (firewall) => {
      for (const [index, scope] of [first, second, long, ...others].entries())
        expect(await firewall(scope).replace(mapped({ hostPort: 1000 + index }))).toEqual(done);
      const gc = firewall({ ...first, verb: "gc" });
      expect(
        await gc.retain([first, second, long].map(({ attachment }) => attachment ?? { containerId: "", ifname: "" })),
      ).toEqual({ ok: 0 });
      expect(await gc.retain([{ containerId: "pod-2", ifname: "eth0" }])).toEqual({ ok: 2 });
      expect(await firewall(second).check(mapped({ hostPort: 1001 }))).toEqual({ ok: true });
      for (const [index, scope] of others.entries())
        expect(await firewall(scope).check(mapped({ hostPort: 1003 + index }))).toEqual({ ok: true });
      expect(await firewall(first).check(nothing)).toEqual({ ok: true });
      expect(await gc.retain([])).toEqual({ ok: 1 });
      expect(await gc.retain([])).toEqual({ ok: 0 });
    });
  });

  test("supports hundreds of mappings of one attachment, and hundreds of attachments", async () => {
    const many: FirewallRules = {
      masquerades: [],
      portMappings: Array.from({ length: 500 }, (_, index) => mapping({ hostPort: 20_000 + index, podPort: 1 + index })),
    };
    await withFirewall(async (firewall) => {
      expect(await firewall(first).replace(many)).toEqual(done);
      expect(await firewall(first).check(many)).toEqual({ ok: true });
      const others = Array.from({ length: 200 }, (_, index) => ({
        ...first,
        network: "others",
        attachment: { containerId: `other-${index}`, ifname: "eth0" },
      }));
      const outcomes = await Promise.all(others.map((each, index) => firewall(each).replace(mapped({ hostPort: 1 + index }))));
      expect(outcomes.filter((outcome) => "err" in outcome)).toEqual([]);
      expect(await firewall({ ...first, network: "others", verb: "gc" }).retain([])).toEqual({ ok: 200 });
      expect(await firewall(first).check(many)).toEqual({ ok: true });
      expect(await firewall(first).replace(nothing)).toEqual(done);
      expect(nft("list", "map", "ip", "plexus", "hostports")).not.toContain("elements");
    });
  });

  test("names the limit and the remedy where a batch exceeds the socket's send buffer, and changes nothing", async () => {
    const portMappings = Array.from({ length: 20_000 }, (_, index) => mapping({ hostPort: 20_000 + index, podPort: 1 + index }));
    await withFirewall(async (firewall) => {
      const outcome = JSON.stringify(await firewall(first).replace({ masquerades: [], portMappings }));
      expect(outcome).toMatch(/a batch of \d+ bytes exceeds the send buffer.*raise the sysctl net\.core\.wmem_max to \d+/);
      expect(nft("list", "tables")).not.toContain("plexus");
    });
  });

  test("makes one complete layout in concurrent calls", async () => {
    await Promise.all(
      [first, second, { ...first, network: "third" }].map((scope, index) =>
        withFirewall(async (firewall) => {
          expect(await firewall(scope).replace(mapped({ hostPort: 1000 + index }))).toEqual(done);
          expect(await firewall(scope).check(mapped({ hostPort: 1000 + index }))).toEqual({ ok: true });
        }),
      ),
    );
    expect(chain("ip", "prerouting").slice(1)).toEqual(["fib daddr type local jump hostports"]);
    expect(nft("list", "map", "ip", "plexus", "hostports").match(/jump/g)).toHaveLength(3);
  });

  test("probes the kernel without making rules", async () => {
    await withFirewall(async (firewall) => {
      expect(await firewall({ ...first, verb: "status" }).probe()).toEqual(done);
      expect(ruleset()).toBe("");
    });
  });
});
