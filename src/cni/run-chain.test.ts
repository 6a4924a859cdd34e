import { describe, expect, test } from "vitest";
import { type Fault, fault } from "../fault/fault.ts";
import { ok } from "../fault/result.ts";
import type { Chain, ChainStep, StepOutcome } from "./chain-step.ts";
import { parseNetworkList } from "./network-list.ts";
import { runChain } from "./run-chain.ts";

const list = parseNetworkList('{"cniVersion":"1.0.0","name":"pods","plugins":[{"type":"one"},{"type":"two"}]}');
if (!list.ok) throw new Error(list.fault.msg);
const steps = list.value.plugins.map((plugin, index): ChainStep => ({
  index,
  plugin,
  verb: "ADD",
  stdin: "{}",
  env: [],
  prevResult: undefined,
  attachment: undefined,
}));

/** Yields each step; answers the outputs, or the first failure. */
function* outputsOf(): Chain<string> {
  const outputs: string[] = [];
  for (const step of steps) {
    const outcome = yield step;
    if (!outcome.ok) return { ok: false, fault: outcome.fault, failedStep: step.index };
    outputs.push(outcome.stdout);
  }
  return { ok: true, value: outputs.join() };
}

/** A runner whose steps all succeed. */
const succeeding = () => async (): Promise<StepOutcome> => ({ ok: true, stdout: "" });

describe("a chain", () => {
  test("has its steps run in order, each after the end of the one before", async () => {
    const log: string[] = [];
    const result = await runChain(outputsOf(), async ({ plugin }): Promise<StepOutcome> => {
      log.push(`begin ${plugin.type}`);
      await Promise.resolve();
      log.push(`end ${plugin.type}`);
      return { ok: true, stdout: plugin.type };
    });
    expect(log).toEqual(["begin one", "end one", "begin two", "end two"]);
    expect(result).toEqual(ok("one,two"));
  });

  test("a failed step is the chain's affair, and its fault is reported when the chain ends", async () => {
    const broken = fault("PLUGIN_FAILED", "one failed");
    const reported: (Fault | undefined)[] = [];
    const run = async (): Promise<StepOutcome> => ({ ok: false, fault: broken });
    const result = await runChain(outputsOf(), Object.assign(run, { ended: (reason?: Fault) => void reported.push(reason) }));
    expect(result).toEqual({ ok: false, fault: broken, failedStep: 0 });
    expect(reported).toEqual([broken]);
  });

  test("its success is reported once, without a fault", async () => {
    const reported: (Fault | undefined)[] = [];
    await runChain(outputsOf(), Object.assign(succeeding(), { ended: (reason?: Fault) => void reported.push(reason) }));
    expect(reported).toEqual([undefined]);
  });
});
