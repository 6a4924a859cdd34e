// The capability filter in the kernel: calls at once, rules of others, grants.

import { spawnSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Filter, filterFor, type FilterScope } from "../../../../host/capabilities/filter/scope.ts";
import { createRuleNode, type RuleNode } from "../../../lab/rule-node.ts";
import { command, missing, privateNamespaces } from "../../../lab/requires.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";

const needs = [privateNamespaces, command("nft", "-v"), command("iptables-nft", "-V")] as const;

let shop: Workshop;
let node: RuleNode;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

const open = { adminChain: "CNI-ADMIN", ingress: "open", bridge: undefined } as const;
const isolated = { adminChain: "CNI-ADMIN", ingress: "isolated", bridge: "br0" } as const;

const iptables = (...args: readonly string[]): string => {
  const ended = spawnSync("nsenter", [`--net=${node.path}`, "--", "iptables-nft", ...args], { encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`iptables ${args.join(" ")}: ${ended.stderr}`);
  return ended.stdout;
};

const withFilter = (script: (filter: (more: Partial<FilterScope>) => Filter) => Promise<void>): Promise<unknown> =>
  callWith(
    (engine) =>
      script((more) =>
        filterFor(
          {
            type: "firewall",
            network: "pods",
            verb: "ADD",
            attachment: { containerId: "one", ifname: "eth0" },
            grant: { bridges: ["br*"] },
            facts: { addresses: ["10.1.0.5/24", "10.1.0.6"] },
            ...more,
          },
          engine,
        ),
      ),
    { shim: shop.shim, netns: node.path },
  );

function comment(text: string): readonly string[] {
  return ["-m", "comment", "--comment", text];
}

describe.skipIf(missing("acceptance of forwarded packets", ...needs))("the capability filter", () => {
  beforeEach(() => {
    node = createRuleNode();
  });
  afterEach(() => node.dispose());

  test("makes the shared rules once in calls at once, and keeps rules of other programs", async () => {
    iptables("-A", "FORWARD", "-s", "192.0.2.1", "-j", "DROP");
    iptables("-N", "CNI-ADMIN");
    iptables("-A", "CNI-ADMIN", "-d", "192.0.2.9", "-j", "DROP");
    await withFilter(async (filter) => {
      const pods = Array.from({ length: 24 }, (_, at) => `10.1.0.${at + 10}`);
      const scopes = pods.map((address, at) => ({
        attachment: { containerId: `pod-${at}`, ifname: "eth0" },
        facts: { addresses: [address] },
      }));
      const all = scopes.map((scope) => filter(scope).replace({ ...isolated, addresses: [...scope.facts.addresses] }));
      expect(new Set((await Promise.all(all)).map((each) => JSON.stringify(each)))).toEqual(new Set(["{}"]));
      const made = iptables("-S");
      expect(made.match(/^-A FORWARD .*$/gmu)).toEqual([
        expect.stringContaining("-j CNI-ISOLATION-STAGE-1"),
        expect.stringContaining("-j CNI-FORWARD"),
        "-A FORWARD -s 192.0.2.1/32 -j DROP",
      ]);
      expect(made.match(/^-A CNI-FORWARD .*-j ACCEPT$/gmu)).toHaveLength(2 * pods.length);
      expect(made.match(/^-A CNI-FORWARD .*$/gmu)?.[0]).toContain("-j CNI-ADMIN");
      expect(made).toContain("-A CNI-ADMIN -d 192.0.2.9/32 -j DROP");
      const gone = await Promise.all(scopes.map((scope) => filter({ ...scope, verb: "DEL" }).remove()));
      expect(new Set(gone.map((each) => JSON.stringify(each)))).toEqual(new Set(["{}"]));
      expect(iptables("-S", "CNI-FORWARD").match(/ACCEPT/gu)).toBeNull();
      expect(iptables("-S", "FORWARD")).toContain("-A FORWARD -s 192.0.2.1/32 -j DROP");
    });
  });

  test("GC removes the rules of attachments that are not valid, of its network and type alone", async () => {
    await withFilter(async (filter) => {
      const acceptance = { ...open, addresses: ["10.1.0.5"] };
      await filter({}).replace(acceptance);
      await filter({ attachment: { containerId: "two", ifname: "eth0" } }).replace(acceptance);
      await filter({ network: "other" }).replace(acceptance);
      await filter({ type: "other" }).replace(acceptance);
      const gc = filter({ verb: "GC", attachment: undefined });
      expect(await gc.retain([{ containerId: "two", ifname: "eth0" }])).toEqual({ ok: 1 });
      expect(await gc.retain([{ containerId: "two", ifname: "eth0" }])).toEqual({ ok: 0 });
      expect(iptables("-S", "CNI-FORWARD").match(/plexus\/filter\/\S+/gu)).toEqual(
        ["firewall/pods/two", "firewall/other/one", "other/pods/one"].flatMap((each) => {
          const text = `plexus/filter/${each}/eth0`;
          return [expect.stringContaining(text), expect.stringContaining(text)];
        }),
      );
    });
  });

  test("iptables compares the rules with its own", async () => {
    await withFilter(async (filter) => {
      await filter({}).replace({ ...isolated, addresses: ["10.1.0.5"] });
      const owner = comment("plexus/filter/firewall/pods/one/eth0");
      // iptables -C fails for a rule that it does not find.
      expect(iptables("-C", "FORWARD", ...comment("CNI firewall plugin rules"), "-j", "CNI-FORWARD")).toBe("");
      iptables("-C", "CNI-FORWARD", ...comment("CNI firewall plugin admin overrides"), "-j", "CNI-ADMIN");
      iptables("-C", "CNI-FORWARD", "-s", "10.1.0.5/32", ...owner, "-j", "ACCEPT");
      const known = ["-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"];
      iptables("-C", "CNI-FORWARD", "-d", "10.1.0.5/32", ...known, ...owner, "-j", "ACCEPT");
      const policy = comment("CNI firewall plugin rules (ingressPolicy: isolated)");
      iptables("-C", "CNI-ISOLATION-STAGE-1", "-i", "br0", "!", "-o", "br0", ...policy, "-j", "CNI-ISOLATION-STAGE-2");
      iptables("-C", "CNI-ISOLATION-STAGE-1", "-i", "br0", "-o", "br0", ...policy, "-j", "DROP");
    });
  });

  test("refuses addresses, bridges and chains of others, and changes nothing", async () => {
    await withFilter(async (filter) => {
      const accept = (more: object) => filter({}).replace({ ...open, addresses: ["10.1.0.5"], ...more });
      expect(await accept({ addresses: ["10.1.0.7"] })).toMatchObject({
        err: { msg: "filter: 10.1.0.7 is not an address of the attachment, which has 10.1.0.5, 10.1.0.6" },
      });
      expect(await accept({ ...isolated, bridge: "docker0" })).toMatchObject({
        err: { code: 7, msg: "the policy isolated of docker0 is not granted: wasm.grants.firewall.filter.bridges has br*" },
      });
      expect(await accept({ adminChain: "DOCKER-USER" })).toMatchObject({
        err: { code: 7, msg: "the chain DOCKER-USER is not granted: wasm.grants.firewall.filter.adminChains has CNI-ADMIN" },
      });
      expect(await filter({ verb: "STATUS", attachment: undefined }).probe()).toEqual({ ok: undefined });
      expect(node.nft(["list", "ruleset"])).toBe("");
    });
  });
});
