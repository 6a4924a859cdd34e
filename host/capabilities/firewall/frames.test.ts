// Guards of frames against the kernel, in private namespaces, with nft(8) as the oracle.

import { execFileSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { whyNotPrivate } from "../../test/harness/namespaces.ts";
import { command, missing } from "../../test/harness/requires.ts";
import { callWith } from "../hands/testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "../hands/testing/workshop.ts";
import { type Firewall, firewallFor, type FirewallScope } from "./scope.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

const first: FirewallScope = {
  type: "bridge-adapter",
  network: "pods",
  verb: "add",
  attachment: { containerId: "pod-1", ifname: "eth0" },
  grant: {},
  addresses: () => [],
  ends: () => ["veth1"],
};
const second: FirewallScope = { ...first, attachment: { containerId: "pod-2", ifname: "eth0" }, ends: () => ["veth2"] };
const mac = "0a:58:0a:01:00:05";
const done = { ok: undefined };

/** The source that each link's frames must have, as nft prints it. */
function guarded(): readonly string[] {
  const listed = execFileSync("nft", ["list", "ruleset"], { encoding: "utf8" });
  return [...listed.matchAll(/ether saddr != (\S+) drop comment "(\S+) /g)]
    .map(([, source, link]) => `${link} ${source}`)
    .toSorted();
}

async function withFirewall(script: (firewall: (scope: FirewallScope) => Firewall) => Promise<void>): Promise<void> {
  await callWith((brain) => script((scope) => firewallFor(scope, brain)), { hands: shop.hands });
}

describe.skipIf(missing("guards of frames", whyNotPrivate, command("nft", "--version")))("a guard of frames", () => {
  afterEach(() => execFileSync("nft", ["flush", "ruleset"]));

  test("is put in force, found again, replaced and removed, and others' stay", async () => {
    await withFirewall(async (firewall) => {
      expect(await firewall(first).guardFrames("veth1", mac)).toEqual(done);
      expect(await firewall(second).guardFrames("veth2", mac)).toEqual(done);
      expect(guarded()).toEqual([`veth1 ${mac}`, `veth2 ${mac}`]);
      expect(await firewall(first).framesGuarded("veth1", mac)).toEqual({ ok: true });
      expect(await firewall(first).framesGuarded("veth1", "0a:58:0a:01:00:06")).toEqual({ ok: false });
      expect(await firewall(first).framesGuarded("veth2", mac)).toEqual({ ok: false });
      const again = { ...first, ends: () => ["veth3"] };
      expect(await firewall(again).guardFrames("veth3", mac)).toEqual(done);
      expect(guarded()).toEqual([`veth2 ${mac}`, `veth3 ${mac}`]);
      expect(await firewall(first).remove()).toEqual(done);
      expect(await firewall(first).remove()).toEqual(done);
      expect(guarded()).toEqual([`veth2 ${mac}`]);
    });
  });

  test("goes with GC where its attachment is no more", async () => {
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
    ["what is no MAC", "veth1", "0a:58", "0a:58"],
    ["a MAC with more behind it", "veth1", `${mac}:07`, "MAC"],
  ])("is refused for %s, by name, and nothing is changed", async (_name, link, source, named) => {
    await withFirewall(async (firewall) => {
      const refused = await firewall(first).guardFrames(link, source);
      expect(refused).toMatchObject({ err: { msg: expect.stringContaining(named) } });
      expect(execFileSync("nft", ["list", "ruleset"], { encoding: "utf8" })).toBe("");
    });
  });

  test.each(["del", "check", "gc", "status"] as const)("is for ADD only: %s is refused", async (verb) => {
    await withFirewall(async (firewall) => {
      expect(await firewall({ ...first, verb }).guardFrames("veth1", mac)).toMatchObject({
        err: { msg: expect.stringContaining("for ADD only") },
      });
    });
  });
});
