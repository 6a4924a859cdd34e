import { expect, test } from "vitest";
import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import type { DelegateGrants } from "../../../src/configuration/keys/grant-keys.ts";
import { systemClock } from "../../system/clock.ts";
import { maxStateBytes } from "../state/capability.ts";
import { bindDry } from "./bind-dry.ts";
import { DryRun } from "./dry-run.ts";

const unused = () => expect.fail("a shadow's state needs no shim and no lock");

function boundOf(verb: ChainStep["verb"], grants: DelegateGrants, name: string) {
  const stdin = JSON.stringify({ cniVersion: "1.0.0", name: "pods", type: "tuning" });
  const plugin = parsePluginConf(stdin, "test");
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const attachment = { containerId: "one", ifname: "eth0" };
  const step = { index: 1, plugin: plugin.value, verb, stdin, env: [], prevResult: undefined, attachment };
  const running = { step, origin: "delegate", network: "pods", ifname: "eth0", callers: [], timeoutMs: 1, maxMs: 1 } as const;
  const host = {
    shim: new Proxy(Object.create(null), { get: unused }),
    clock: systemClock,
    runLeaseOperation: unused,
    log: unused,
  };
  const dry = new DryRun(undefined);
  return { dry, bound: bindDry(host, { ...running, grants, dry, runDelegated: unused }, dry, [name]) };
}

function stateOf(verb: ChainStep["verb"], directory: string) {
  const { state } = boundOf(verb, { state: { directories: [directory] } }, "state").bound;
  if (state === undefined) throw new Error("state is not bound");
  return state;
}

test("X-2: a shadow's state is refused as in a real run: in CHECK, and beyond its size", async () => {
  const directory = "/nonexistent/plexus-state";
  const added = stateOf("ADD", directory);
  expect(await added.save(undefined, "kept")).toEqual({ ok: undefined });
  expect(await added.load(undefined)).toEqual({ ok: "kept" });
  const tooLong = "x".repeat(maxStateBytes + 1);
  expect(await added.save(undefined, tooLong)).toMatchObject({ err: { msg: expect.stringContaining("the maximum is") } });
  expect(await added.load(undefined)).toEqual({ ok: "kept" });
  const checked = stateOf("CHECK", directory);
  for (const answer of [await checked.save(undefined, "kept"), await checked.remove(undefined)])
    expect(answer).toMatchObject({ err: { msg: expect.stringContaining("CHECK may only load") } });
});

test("X-2: a shadow makes no port of Open vSwitch and collects none, and its request is noted", async () => {
  const grants = { ovs: { bridges: ["*"], interfaceIds: ["*"], socket: "/nonexistent/db.sock" } };
  const { dry, bound } = boundOf("ADD", grants, "ovs");
  if (bound.ovs === undefined) throw new Error("ovs is not bound");
  const port = { bridge: "br-int", link: "veth0", interfaceId: "a", mac: "02:00:00:00:00:01" };
  for (const answer of [await bound.ovs.addPort(port), await bound.ovs.retain([])]) {
    expect(answer).toMatchObject({ err: { details: expect.stringContaining("[SHADOW_UNSUPPORTED]") } });
  }
  expect(dry.unsupported).toEqual(['ovs.add-port to bridge "br-int"', "ovs.retain"]);
  expect(await bound.ovs.removePorts()).toMatchObject({ err: { details: expect.stringContaining("[OVS_UNAVAILABLE]") } });
});
