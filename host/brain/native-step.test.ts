import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../src/cni/network-list.ts";
import { callWith } from "../hands/testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "../hands/testing/workshop.ts";
import { runNativeStep } from "./native-step.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function stepOf(type: string): ChainStep {
  const plugin = parsePluginConf(JSON.stringify({ type }), type);
  if (!plugin.ok) throw new Error(plugin.fault.msg);
  const env = [["PROBE", "report"]] as const;
  return { index: 0, plugin: plugin.value, verb: "ADD", env, stdin: "{}", prevResult: undefined, attachment: undefined };
}

/** Runs it with the real hands, which look on the workshop's CNI_PATH. */
async function run(type: string, deadlineMs: number): Promise<{ readonly outcome: StepOutcome; readonly ms: number }> {
  const ran: { outcome: StepOutcome; ms: number }[] = [];
  const script = async (brain: Parameters<typeof runNativeStep>[0]): Promise<void> => {
    const started = performance.now();
    const outcome = await runNativeStep(brain, stepOf(type), { deadlineMs, nest: "" });
    ran.push({ outcome, ms: performance.now() - started });
  };
  await callWith(script, { hands: shop.hands, env: { CNI_PATH: shop.cniPath } });
  const [only] = ran;
  if (only === undefined) throw new Error("the script did not end");
  return only;
}

describe.concurrent("L-10: a plugin whose file is open for writing", () => {
  test("is tried again and runs once the writer is gone", async () => {
    const writer = openSync(shop.probe("upgraded"), "r+");
    setTimeout(() => closeSync(writer), 1200);
    const { outcome, ms } = await run("upgraded", 20_000);
    expect(outcome).toMatchObject({ ok: true });
    expect(ms).toBeGreaterThan(2000);
  });

  test("is given up after six tries, and never reported as a success", async () => {
    const writer = openSync(shop.probe("held"), "r+");
    const { outcome, ms } = await run("held", 20_000);
    const msg = `plugin ${join(shop.cniPath, "held")} was being written (ETXTBSY) at each attempt`;
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE", msg } });
    expect(ms).toBeGreaterThan(5000);
    closeSync(writer);
  });

  test("is given up at once where the deadline comes before the next try", async () => {
    const writer = openSync(shop.probe("brief"), "r+");
    const { outcome, ms } = await run("brief", 500);
    expect(outcome).toMatchObject({ ok: false, fault: { kind: "PLUGIN_NOT_STARTABLE" } });
    expect(ms).toBeLessThan(1000);
    closeSync(writer);
  });
});
