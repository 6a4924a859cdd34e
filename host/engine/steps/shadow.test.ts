// The bounds of a shadow. The faults below, such as a sandbox that never answers, can't be made with real components in a test's time:
// test/node/attach/shadow-steps.test.ts has the real ones.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import { defaultWasm } from "../../../src/configuration/wasm-configuration.ts";
import { defaultStepRule } from "../../../src/configuration/step-rules.ts";
import { fault } from "../../../src/fault/fault.ts";
import type { Step } from "../../capabilities/step.ts";
import { ShimGone } from "../../protocol/shim.ts";
import type { ComponentFile } from "../../sandbox/component-file.ts";
import type { DelegateRunner } from "../../capabilities/delegate-runner.ts";
import { CallEvents } from "../events/call-events.ts";
import { partialCall } from "../testing/partial-call.ts";
import type { ShadowReport } from "../../../src/step-policy/shadow-report.ts";
import { runWithShadow, shadowMs } from "./shadow.ts";

const answer = (address: string): StepOutcome => ({
  ok: true,
  stdout: JSON.stringify({ cniVersion: "1.0.0", ips: [{ address }] }),
});
const native = answer("10.1.0.2/24");

let root: string;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  root = mkdtempSync(join(tmpdir(), "plexus-shadow-"));
  mkdirSync(join(root, "pods"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(root, { recursive: true });
});

function stepOf(verb: ChainStep["verb"]): ChainStep {
  const text = JSON.stringify({ cniVersion: "1.0.0", name: "pods", type: "native" });
  const plugin = parsePluginConf(text, "test");
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const attachment = { containerId: "one", ifname: "eth0" };
  return { index: 0, plugin: plugin.value, verb, stdin: text, env: [], prevResult: undefined, attachment };
}

/** Runs one step whose plugin has a shadow. `run`: the shadow's run. */
async function runOne(
  run: DelegateRunner["run"],
  more: { verb?: ChainStep["verb"]; stepMs?: number; outcome?: StepOutcome } = {},
) {
  const { verb = "ADD", stepMs = 60_000, outcome = native } = more;
  const reports: ShadowReport[] = [];
  let runs = 0;
  const events = new CallEvents();
  events.subscribe({ receive: (event) => void (event.what === "shadow-ended" && reports.push(event.report)) });
  const wasm = { ...defaultWasm, grants: { component: { leases: { directories: [root] } } } };
  const call = partialCall({
    events,
    configuration: { wasm },
    plugins: { find: () => Promise.resolve({ kind: "found", what: "native", path: "/bin/native", identity: "1" }) },
    shim: { find: () => Promise.resolve({ kind: "found", what: "component", path: "/bin/component.wasm", identity: "2" }) },
    delegates: {
      run: (running: Step, file: ComponentFile) => {
        runs += 1;
        return run(running, file);
      },
    },
    deadline: { stepMs },
  });
  const rules = { native: { ...defaultStepRule, shadow: "component" } };
  const of = { run: () => Promise.resolve(outcome), step: stepOf(verb) };
  const answered = await runWithShadow(call, { network: "pods", ifname: "eth0" }, rules, of);
  return { answered, reports, runs };
}

describe("a shadow", () => {
  test("X-2: that never ends delays the step by its bound only, and the step's answer stays", async () => {
    let hasAnswered = false;
    const step = runOne(() => new Promise(() => undefined)).finally(() => (hasAnswered = true));
    await vi.advanceTimersByTimeAsync(shadowMs - 1);
    expect(hasAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const { answered, reports } = await step;
    expect(answered).toBe(native);
    expect(reports).toMatchObject([{ outcome: "skipped", why: `it did not end within ${shadowMs} ms` }]);
  });

  test("X-2: does not run when the deadline is near, after a failed native step, and in DEL", async () => {
    const near = await runOne(() => Promise.resolve(native), { stepMs: 3999 });
    expect([near.runs, near.reports]).toMatchObject([0, [{ outcome: "skipped", why: "only 3999 ms are left for the call" }]]);
    const failure: StepOutcome = { ok: false, fault: fault("PLUGIN_FAILED", "x") };
    for (const more of [{ outcome: failure }, { verb: "DEL" as const }, { verb: "GC" as const }]) {
      expect(await runOne(() => Promise.resolve(native), more)).toMatchObject({ runs: 0, reports: [] });
    }
  });

  test.each([
    ["answers the same", () => Promise.resolve(native), { outcome: "match", changes: [], why: "" }],
    [
      "answers otherwise",
      () => Promise.resolve(answer("10.1.0.3/24")),
      { outcome: "mismatch", changes: [{ path: "/ips/0/address" }] },
    ],
    [
      "fails",
      () => Promise.resolve({ ok: false, fault: fault("DELEGATE_FAILED", "no range") } as const),
      { outcome: "mismatch", why: expect.stringContaining("the shadow failed: code 999, no range") },
    ],
    ["throws", () => Promise.reject(new Error("broken")), { outcome: "skipped", why: "broken" }],
    [
      "loses the shim",
      () => Promise.reject(new ShimGone(fault("SHIM_GONE", "x"))),
      { outcome: "skipped", why: "the shim has gone" },
    ],
    [
      "can't be started",
      () => Promise.resolve({ ok: false, fault: { ...fault("COMPONENT_REFUSED", "too large"), notBegun: true } } as const),
      { outcome: "refused", why: "too large" },
    ],
  ] as const)("X-2: that %s never changes the native answer", async (_, run, report) => {
    const { answered, reports } = await runOne(run);
    expect(answered).toBe(native);
    expect(reports).toMatchObject([report]);
  });

  test("X-2: a difference is inconclusive if leases of other pods changed meanwhile", async () => {
    const { reports } = await runOne(() => {
      writeFileSync(join(root, "pods", "10.1.0.9"), "other\r\neth0");
      return Promise.resolve(answer("10.1.0.3/24"));
    });
    expect(reports).toMatchObject([{ outcome: "inconclusive", why: "leases of other pods changed meanwhile" }]);
  });

  test("X-2: its step is dry, bounded, and calls no plugin", async () => {
    let running: Step | undefined;
    await runOne((given) => {
      running = given;
      return Promise.resolve(native);
    });
    expect(running).toMatchObject({ maxMs: shadowMs, timeoutMs: shadowMs, step: { plugin: { type: "component" } } });
    // The run has ended, so a late request reads nothing.
    expect(running?.dry?.ended).toBe(true);
    expect(await running?.runDelegated(stepOf("ADD"), 1)).toMatchObject({ ok: false, fault: { kind: "SHADOW_UNSUPPORTED" } });
  });
});
