import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import { shimWithPolicy } from "./testing/policy-shim.ts";
import { callWith } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";
import type { Step } from "../../../host/capabilities/step.ts";
import { partialCall } from "../../../host/engine/testing/partial-call.ts";
import type { ExecEffect } from "../../../host/protocol/shim.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { runNativeStep } from "../../../host/engine/steps/native-step.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function stepOf(type: string): ChainStep {
  const plugin = parsePluginConf(JSON.stringify({ type }), type);
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const env = [["CNI_PROBE", "report"]] as const;
  return { index: 0, plugin: plugin.value, verb: "ADD", env, stdin: "{}", prevResult: undefined, attachment: undefined };
}

function runningStep(type: string, timeoutMs: number): Step {
  return {
    step: stepOf(type),
    origin: "chain",
    network: "",
    ifname: "",
    callers: [],
    grants: {},
    timeoutMs,
    maxMs: Infinity,
    runDelegated: () => expect.fail("a native step delegates nothing"),
  };
}

interface Ran {
  readonly outcome: StepOutcome;
  /** Number of EXEC effects for the plugin. */
  readonly tries: number;
}

/** Runs the plugin with the real shim and the workshop's CNI_PATH. `tried` receives the number of each try after its end. */
async function run(
  type: string,
  deadlineMs: number,
  tried: (nth: number) => void = () => {},
  nestedCallDirectory = "",
  runDir = shop.directory,
  shimPath = shop.shim,
): Promise<Ran> {
  const ran: Ran[] = [];
  await callWith(
    async (engine) => {
      let tries = 0;
      const shim = {
        async exec(effect: ExecEffect) {
          const executed = await engine.exec(effect);
          tries += 1;
          tried(tries);
          return executed;
        },
      };
      const outcome = await runNativeStep(
        partialCall({ shim, configuration: { goMaxProcs: 0 }, nestedCallDirectory, output: () => {}, clock: systemClock }),
        runningStep(type, deadlineMs),
      );
      ran.push({ outcome, tries });
    },
    { shim: shimPath, env: { CNI_PATH: shop.cniPath }, stdin: JSON.stringify({ runDir }) },
  );
  const [only] = ran;
  if (only === undefined) throw new Error("the script did not end");
  return only;
}

test("the error of a nested-call directory that cannot be made names the system's reason and what the shim needs", async () => {
  const name = "0123456789abcdef";
  shop.component("another-component");
  expect((await run("nobody", 20_000, undefined, name)).outcome).toMatchObject({
    ok: false,
    fault: { kind: "PLUGIN_NOT_FOUND" },
  });
  shop.probe("willing");
  const shim = join(shop.directory, "without-rights");
  const options = process.geteuid?.() === 0 ? "--bounding-set=-all --inh-caps=-all" : "";
  writeFileSync(shim, `#!/bin/sh\nexec setpriv ${options} ${shop.shim}\n`, { mode: 0o755 });
  const why = `creating its nested-call directory tmpfs/${name}: EPERM, operation not permitted; the shim needs CAP_SYS_ADMIN`;
  expect((await run("willing", 20_000, undefined, name, shop.directory, shim)).outcome).toMatchObject({
    ok: false,
    fault: { kind: "STORE_FAILED", msg: expect.stringContaining(`plugin willing was not started: ${why}`) },
  });
});

test("a plugin whose interpreter does not exist can't be started: the error says so, and the step has begun nothing", async () => {
  const path = join(shop.cniPath, "uninterpreted");
  writeFileSync(path, "#!/nonexistent/interpreter\n", { mode: 0o755 });
  const { outcome, tries } = await run("uninterpreted", 20_000);
  const msg = `plugin ${path} could not be started: the interpreter that its first line or its ELF header names does not exist`;
  expect([tries, outcome]).toMatchObject([
    1,
    { ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", code: 5, msg, notBegun: true } },
  ]);
});

test.skipIf(process.geteuid?.() !== 0)(
  "a plugin that the node's policy forbids can't be started, and the error names the policy",
  async () => {
    const { path: shim, file, dispose } = await shimWithPolicy(shop.directory, "native-step");
    onTestFinished(dispose);
    writeFileSync(file, '{"plugins":[]}', { mode: 0o644 });
    shop.probe("bounded");
    const { outcome } = await run("bounded", 20_000, undefined, "", shop.directory, shim);
    const msg = expect.stringMatching(
      /^plugin .*\/bounded could not be started: the node's policy forbids it \(\/etc\/plexus\/policy\.json/,
    );
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", msg, notBegun: true } });
  },
);

describe.concurrent("L-10: a plugin whose file is open for writing", () => {
  test("is tried again, and runs after the writer has closed the file", async () => {
    const writer = openSync(shop.probe("upgraded"), "r+");
    const { outcome, tries } = await run("upgraded", 20_000, (nth) => nth === 2 && closeSync(writer));
    expect(outcome).toMatchObject({ ok: true });
    expect(tries).toBe(3);
  });

  test("fails after six tries", async () => {
    const writer = openSync(shop.probe("held"), "r+");
    const { outcome, tries } = await run("held", 20_000);
    const msg = `plugin ${join(shop.cniPath, "held")} was being written (ETXTBSY) at each attempt`;
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", msg } });
    expect(tries).toBe(6);
    closeSync(writer);
  });

  test("fails after the first try if the deadline comes before the next one", async () => {
    const writer = openSync(shop.probe("brief"), "r+");
    const { outcome, tries } = await run("brief", 500);
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE" } });
    expect(tries).toBe(1);
    closeSync(writer);
  });
});
