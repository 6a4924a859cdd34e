// A WASM delegate that calls other plugins, through the installed binary. The tests check the called plugin's configuration,
// environment and failures, and the leases if the delegate fails or is killed between a call and the delegate's answer.

import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installTestDelegate, testDelegate } from "../../lab/delegates/built.ts";
import { withGrowingLimit } from "../../lab/growing-limit.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { linkType, missing, privateNamespaces, referencePlugin, referencePlugins } from "../../lab/requires.ts";
import { killStep } from "../../lab/kill-step.ts";
import { type Attaching, nothing, openStage, shown, type Stage } from "../../lab/stage.ts";

type Actions = readonly object[];

const add = { call: "ADD", type: "host-local" };
const release = { call: "DEL", type: "host-local" };
const address = '{"cniVersion":"1.0.0","ips":[{"address":"10.20.0.7/24"}]}';

const unable = missing("delegation", privateNamespaces, referencePlugins("host-local"));

describe.skipIf(unable)("a delegate that calls other plugins", () => {
  let stage: Stage;
  // The first build of the delegate takes long, so that it must not count as a test's time.
  beforeAll(() => testDelegate("puppet"));
  async function open(): Promise<void> {
    stage = openStage({ native: ["host-local"], components: ["ipam-host-local"] });
    await installTestDelegate("puppet", stage.plexus.cniPath, ["puppet", "second", "third", "fourth", "fifth", "sixth"]);
  }
  async function reopen(): Promise<void> {
    stage.dispose();
    await open();
  }
  beforeEach(open);
  afterEach(() => stage.dispose());

  interface PuppetPod {
    readonly do: Readonly<Record<string, Actions>>;
    readonly plugins?: readonly string[];
    readonly ipam?: object;
    readonly more?: object;
    readonly wasm?: object;
    readonly type?: string;
  }

  /** A pod whose only step is the delegate `puppet`. */
  function puppetPod({
    do: program,
    plugins = ["host-local", "ipam-host-local"],
    ipam,
    more = {},
    wasm = {},
    type = "puppet",
  }: PuppetPod): Attaching {
    const grant = { log: {}, delegation: { plugins } };
    const types = ["puppet", "second", "third", "fourth", "fifth", "sixth"];
    const grants = {
      "ipam-host-local": { log: {}, resolver: {}, leases: { directories: [stage.leases] } },
      ...Object.fromEntries(types.map((each) => [each, grant])),
    };
    const step = {
      type,
      do: program,
      ipam: ipam ?? { type: "host-local", dataDir: stage.leases, ranges: [[{ subnet: "10.20.0.0/24" }]] },
      ...more,
    };
    return { config: stage.network([step], { wasm: { grants, ...wasm } }), containerId: "one", pod: stage.pod() };
  }

  test("L-62 calls native IPAM with its own configuration and environment, and releases the addresses", async () => {
    const pod = puppetPod({ do: { ADD: [add], DEL: [release], CHECK: [{ call: "CHECK", type: "host-local" }] } });
    const added = await stage.succeed("ADD", pod);
    expect(added.json).toMatchObject({ cniVersion: "1.0.0", ips: [{ address: "10.20.0.2/24", gateway: "10.20.0.1" }] });
    expect(stage.files().leases).toEqual(["pods/10.20.0.2"]);
    expect(shown(stage.steps())).toEqual(["ADD host-local native nested", "ADD puppet wasm"]);
    await stage.succeed("CHECK", pod);
    await stage.succeed("DEL", pod);
    expect(shown(stage.steps())).toEqual([
      "CHECK host-local native nested",
      "CHECK puppet wasm",
      "DEL host-local native nested",
      "DEL puppet wasm",
    ]);
    expect(stage.left()).toEqual(nothing);
  });

  test("L-62 calls another delegate", async () => {
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: "10.20.0.0/24" }]] };
    const type = { type: "ipam-host-local" };
    const pod = puppetPod({ ipam, do: { ADD: [{ call: "ADD", ...type }], DEL: [{ call: "DEL", ...type }] } });
    const added = await stage.succeed("ADD", pod);
    expect(added.json).toMatchObject({ ips: [{ address: "10.20.0.2/24" }] });
    expect(stage.files().leases).toEqual(["pods/10.20.0.2"]);
    expect(shown(stage.steps())).toEqual(["ADD ipam-host-local wasm nested", "ADD puppet wasm"]);
    await stage.succeed("DEL", pod);
    expect(stage.left()).toEqual(nothing);
  });

  test("L-62 the called plugin's code and message reach the runtime; its DEL runs at once and again with the chain's undo", async () => {
    const inner = installRecorder(stage.plexus.cniPath, "inner");
    inner.script("ADD", { exit: 1, stdout: '{"cniVersion":"1.0.0","code":142,"msg":"no address today"}' });
    const type = { type: "inner" };
    const pod = puppetPod({ plugins: ["inn*"], do: { ADD: [{ call: "ADD", ...type }], DEL: [{ call: "DEL", ...type }] } });
    const failed = await stage.call("ADD", pod);
    expect(failed).toMatchObject({ status: 1, json: { code: 142 } });
    expect(failed.json?.["msg"]).toContain("puppet: plugin inner failed (add): no address today");
    const calls = inner.calls();
    expect(calls.map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL", "DEL"]);
    const [first, second] = calls;
    expect(second?.stdin).toBe(first?.stdin);
    expect(JSON.parse(first?.stdin ?? "")).toMatchObject({ type: "puppet", name: "pods", cniVersion: "1.0.0" });
    expect(first?.env).toMatchObject({
      CNI_CONTAINERID: "one",
      CNI_IFNAME: "eth0",
      CNI_PATH: expect.stringContaining(stage.plexus.cniPath),
    });
    expect(stage.left()).toEqual(nothing);
  });

  test("L-63 an IPAM result with interfaces is refused, and its lease is released", async () => {
    const inner = installRecorder(stage.plexus.cniPath, "inner");
    inner.script("ADD", { stdout: '{"cniVersion":"1.0.0","interfaces":[{"name":"x"}]}' });
    const pod = puppetPod({ plugins: ["inner"], ipam: { type: "inner" }, do: { ADD: [{ call: "ADD", type: "inner" }] } });
    const failed = await stage.call("ADD", pod);
    expect(failed).toMatchObject({ status: 1, json: { code: 6, msg: expect.stringContaining("must not have interfaces") } });
    expect(inner.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL"]);
  });

  test("L-62 a delegate cannot replace name, cniVersion and prevResult of the configuration that it passes on", async () => {
    const inner = installRecorder(stage.plexus.cniPath, "inner");
    inner.script("ADD", { stdout: address });
    const config = { name: "other", cniVersion: "0.4.0", x: 1, NAME: "other", prevResult: { ips: [] } };
    const pod = puppetPod({ plugins: ["inner"], do: { ADD: [{ call: "ADD", type: "inner", config }] } });
    await stage.succeed("ADD", pod);
    expect(JSON.parse(inner.calls()[0]?.stdin ?? "")).toEqual({ name: "pods", cniVersion: "1.0.0", x: 1 });
    await stage.succeed("DEL", pod);
  });

  test.each([
    ["traps", [add, { end: "trap" }], "[DELEGATE_TRAPPED]"],
    ["uses up its time", [add, { end: "spin" }], "[LIMIT_TIME]"],
    ["answers an error", [add, { end: "fail" }], "[DELEGATE_FAILED]"],
  ])("no lease leaks when a delegate %s after its IPAM's ADD", async (_, actions, kind) => {
    await withGrowingLimit(
      1500,
      async (timeMs) => {
        const pod = puppetPod({ do: { ADD: actions, DEL: [release] }, wasm: { limits: { timeMs } } });
        const failed = await stage.call("ADD", pod);
        expect(failed.json?.["details"]).toContain(kind);
        expect(shown(stage.steps())).toEqual([
          "ADD host-local native nested",
          "ADD puppet wasm failed",
          "DEL host-local native nested",
          "DEL puppet wasm",
        ]);
        expect(stage.left()).toEqual(nothing);
      },
      reopen,
    );
  });

  test("no lease leaks when the call times out while the delegate's IPAM plugin runs", async () => {
    await withGrowingLimit(
      8000,
      async (callTimeoutMs) => {
        const inner = installRecorder(stage.plexus.cniPath, "inner");
        inner.hold("ADD");
        const type = { type: "inner" };
        const pod = puppetPod({
          plugins: ["inner", "host-local"],
          do: { ADD: [add, { call: "ADD", ...type }], DEL: [{ call: "DEL", ...type }, release] },
        });
        const failed = await stage.call("ADD", { ...pod, config: { ...pod.config, callTimeoutMs } });
        expect(failed).toMatchObject({
          status: 1,
          json: { code: 11, msg: expect.stringContaining("plugin inner failed (add)") },
        });
        // The DEL after the failed nested call may have no time left; the DEL of the undo has.
        const verbs = inner.calls().map(({ env }) => env["CNI_COMMAND"]);
        expect([verbs[0], verbs.at(-1)]).toEqual(["ADD", "DEL"]);
        expect(stage.left()).toEqual(nothing);
      },
      reopen,
    );
  });

  test("no lease leaks when the shim is killed after the IPAM's ADD: the next DEL releases it", async () => {
    copyFileSync(killStep(), join(stage.plexus.cniPath, "killer"));
    writeFileSync(join(stage.plexus.cniPath, "killer.ADD.one"), "shim");
    const killer = { call: "ADD", type: "killer" };
    const pod = puppetPod({ plugins: ["*"], do: { ADD: [add, killer], DEL: [release] } });
    const killed = await stage.call("ADD", pod);
    expect(killed.status).not.toBe(0);
    expect(stage.files().leases).toEqual(["pods/10.20.0.2"]);
    await stage.succeed("DEL", pod);
    expect(stage.left()).toEqual(nothing);
  });

  test.each([
    [
      ["host-local"],
      { call: "ADD", type: "inner" },
      'ADD of plugin "inner" is not granted: wasm.grants.puppet.delegation.plugins has host-local',
    ],
    [
      [],
      { call: "ADD", type: "host-local" },
      'plugin "host-local" is not granted: wasm.grants.puppet.delegation.plugins has nothing',
    ],
    [["*"], { call: "ADD", type: "../inner" }, 'plugin "../inner" is not granted'],
    [["*"], { call: "CHECK", type: "inner" }, 'CHECK of plugin "inner" within ADD: a delegate may call only ADD and DEL there'],
    [["*"], { call: "GC", type: "inner" }, "a delegate may call only ADD and DEL there"],
    [["*"], { call: "ADD", type: "nobody" }, 'failed to find plugin "nobody"'],
    [["*"], { call: "ADD", type: "plexus" }, "it would be plexus itself"],
    [["*"], { call: "ADD", type: "inner", config: { ipam: { type: "plexus" } } }, "it would be plexus itself"],
    [["*"], { call: "ADD", type: "inner", config: "no object" }, "configuration for plugin inner"],
    [["*"], { call: "ADD", type: "puppet" }, 'plugin "puppet" would call itself: "puppet" > "puppet"'],
  ])("E-7 with the grant %j, %j is refused with the plugin's name", async (plugins, action, message) => {
    const inner = installRecorder(stage.plexus.cniPath, "inner");
    const failed = await stage.call("ADD", puppetPod({ plugins, do: { ADD: [action] } }));
    expect(failed).toMatchObject({ status: 1, json: { msg: expect.stringContaining(message) } });
    expect([inner.calls(), stage.left()]).toEqual([[], nothing]);
  });

  test("a cycle and too deep a chain of calls are refused", async () => {
    const callPuppet = { do: { ADD: [{ call: "ADD", type: "puppet" }] } };
    const cycle = puppetPod({ plugins: ["*"], do: { ADD: [{ call: "ADD", type: "second", config: callPuppet }] } });
    const refused = await stage.call("ADD", cycle);
    expect(refused.json?.["msg"]).toContain('plugin "puppet" would call itself: "puppet" > "second" > "puppet"');

    const types = ["second", "third", "fourth", "fifth", "sixth"];
    const nestedCall = (depth: number): object => ({
      do: { ADD: depth < types.length ? [{ call: "ADD", type: types[depth], config: nestedCall(depth + 1) }] : [] },
    });
    const deep = await stage.call("ADD", puppetPod({ plugins: ["*"], do: {}, more: nestedCall(0) }));
    expect(deep.json?.["msg"]).toContain("plugins call one another more than 4 deep");
    expect(stage.left()).toEqual(nothing);
  });

  test.skipIf(missing("a cycle through a native plugin", referencePlugins("bridge"), linkType("bridge"), linkType("veth")))(
    "a cycle through a native plugin's ipam.type is refused",
    async () => {
      symlinkSync(referencePlugin("bridge") ?? "", join(stage.plexus.cniPath, "bridge"));
      const config = { type: "bridge", bridge: "br9", ipam: { type: "puppet" } };
      const cycle = puppetPod({ plugins: ["bridge"], do: { ADD: [{ call: "ADD", type: "bridge", config }] } });
      const refused = await stage.call("ADD", cycle);
      expect(refused.json?.["msg"]).toContain('plugin "puppet" would call itself: "puppet" > "bridge" > "puppet"');
      expect(stage.left()).toEqual(nothing);
    },
  );

  test("L-62 GC and STATUS reach the called plugin, GC with the runtime's valid attachments instead of the delegate's", async () => {
    const inner = installRecorder(stage.plexus.cniPath, "inner");
    inner.script("ADD", { stdout: address });
    inner.script("STATUS", { exit: 1, stdout: '{"cniVersion":"1.1.0","code":51,"msg":"nearly out"}' });
    const type = { type: "inner" };
    const pod = puppetPod({
      plugins: ["inner"],
      do: {
        ADD: [{ call: "ADD", ...type }],
        GC: [{ call: "GC", ...type, config: { "cni.dev/valid-attachments": [], "CNI.dev/Attachments": [] } }],
        STATUS: [{ call: "STATUS", ...type }],
      },
    });
    const config = { ...pod.config, cniVersion: "1.1.0", delegates: withVersion(pod.config, "1.1.0") };
    await stage.succeed("ADD", { ...pod, config });
    const status = await stage.request({ verb: "STATUS", config });
    expect(status).toMatchObject({ status: 1, json: { code: 51, msg: expect.stringContaining("nearly out") } });
    const valid = [{ containerID: "one", ifname: "eth0" }];
    const collected = await stage.request({ verb: "GC", config: { ...config, "cni.dev/valid-attachments": valid } });
    expect(collected.status).toBe(0);
    const [last] = inner.calls().slice(-1);
    expect(JSON.parse(last?.stdin ?? "")).toMatchObject({ "cni.dev/valid-attachments": valid });
    await stage.succeed("DEL", { ...pod, config });
  });
});

function withVersion(config: object, cniVersion: string): unknown {
  return "delegates" in config && Array.isArray(config.delegates)
    ? config.delegates.map((each: object) => ({ ...each, cniVersion }))
    : [];
}
