// Frame guards in the kernel, in private namespaces; nft(8) shows the installed rules.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { command, missing } from "../../../lab/requires.ts";
import { createRuleNode, type RuleNode } from "../../../lab/rule-node.ts";
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
  type: "bridge-adapter",
  network: "pods",
  verb: "add",
  attachment: { containerId: "pod-1", ifname: "eth0" },
  grant: {},
  facts: { addresses: [], hostVeths: ["veth1"] },
};
const second: FirewallScope = {
  ...first,
  attachment: { containerId: "pod-2", ifname: "eth0" },
  facts: { addresses: [], hostVeths: ["veth2"] },
};
const mac = "0a:58:0a:01:00:05";
const done = { ok: undefined };

/** Each guarded link with the source MAC that its frames must have, as nft prints them. */
function guarded(): readonly string[] {
  const listed = node.nft(["list", "ruleset"]);
  return [...listed.matchAll(/ether saddr != (\S+) drop comment "(\S+) /g)]
    .map(([, source, link]) => `${link} ${source}`)
    .toSorted();
}

async function withFirewall(script: (firewall: (scope: FirewallScope) => Firewall) => Promise<void>): Promise<void> {
  await callWith((engine) => script((scope) => firewallFor(scope, engine)), { shim: shop.shim, netns: node.path });
}

describe.skipIf(missing("guards of frames", missingPrivateNamespaces, command("nft", "--version")))("a frame guard", () => {
  afterEach(() => void node.nft(["flush", "ruleset"]));

  test("is installed, recognized, replaced and removed, and other guards stay", async () => {
    await withFirewall(async (firewall) => {
      expect(await firewall(first).guardFrames("veth1", mac)).toEqual(done);
      expect(await firewall(second).guardFrames("veth2", mac)).toEqual(done);
      expect(guarded()).toEqual([`veth1 ${mac}`, `veth2 ${mac}`]);
      expect(await firewall(first).framesGuarded("veth1", mac)).toEqual({ ok: true });
      expect(await firewall(first).framesGuarded("veth1", "0a:58:0a:01:00:06")).toEqual({ ok: false });
      expect(await firewall(first).framesGuarded("veth2", mac)).toEqual({ ok: false });
      const again = { ...first, facts: { addresses: [], hostVeths: ["veth3"] } };
      expect(await firewall(again).guardFrames("veth3", mac)).toEqual(done);
      expect(guarded()).toEqual([`veth2 ${mac}`, `veth3 ${mac}`]);
      expect(await firewall(first).remove()).toEqual(done);
      expect(await firewall(first).remove()).toEqual(done);
      expect(guarded()).toEqual([`veth2 ${mac}`]);
    });
  });

  test("is removed by GC if its attachment is not valid", async () => {
    await withFirewall(async (firewall) => {
      await firewall(first).guardFrames("veth1", mac);
      await firewall(second).guardFrames("veth2", mac);
      const collected = firewall({ ...first, verb: "gc" }).retain([{ containerId: "pod-2", ifname: "eth0" }]);
      expect(await collected).toEqual({ ok: 1 });
      expect(guarded()).toEqual([`veth2 ${mac}`]);
    });
  });

  test.each([
    ["a link that this call didn't make", "veth2", mac, "veth2"],
    ["a device of the node", "eth0", mac, "eth0"],
    ["a text that is not a MAC", "veth1", "0a:58", "0a:58"],
    ["a MAC with more behind it", "veth1", `${mac}:07`, "MAC"],
  ])("is refused for %s, by name, without a change", async (_name, link, source, text) => {
    await withFirewall(async (firewall) => {
      const refused = await firewall(first).guardFrames(link, source);
      expect(refused).toMatchObject({ err: { msg: expect.stringContaining(text) } });
      expect(node.nft(["list", "ruleset"])).toBe("");
    });
  });

  test.each(["del", "check", "gc", "status"] as const)("is allowed in ADD only: %s is refused", async (verb) => {
    await withFirewall(async (firewall) => {
      expect(await firewall({ ...first, verb }).guardFrames("veth1", mac)).toMatchObject({
        err: { msg: expect.stringContaining("allowed in ADD only") },
      });
    });
  });
});
