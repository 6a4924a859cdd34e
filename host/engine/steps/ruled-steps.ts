// Runs the steps of one chain by the administrator's rules: tries a failed step again, or passes it over. A step that is tried again or
// passed over in ADD is undone first, by its own DEL.

import { setTimeout } from "node:timers/promises";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import type { RunStep } from "../../../src/cni/chains.ts";
import { passedOverStepOf } from "../../../src/cni/failed-step.ts";
import { stepRule, type StepRules } from "../../../src/configuration/step-rules.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { decide, retryPauseMs, whyNotOpen } from "../../../src/step-policy/failure-policy.ts";
import type { Call, ChainIdentity } from "../call.ts";
import { tellPassedOver, tellRetried } from "../events/tell-verdicts.ts";

/** Makes the runner of a chain's steps by its rules. Its outcome of a step that is passed over is a success with `passedOver`. */
export function ruled(call: Call, chain: ChainIdentity, rules: StepRules, run: RunStep): RunStep {
  const terms = { call, chain, run };
  const runByRule = async (step: ChainStep): Promise<StepOutcome> => {
    const rule = stepRule(rules, step.plugin.type);
    const { verb, index } = step;
    for (let tries = 1; ; tries++) {
      const outcome = await run(step);
      if (outcome.ok) return outcome;
      const failure = outcome.fault;
      switch (decide(rule, { verb, index, fault: failure, tries })) {
        case "retry":
          if (!(await mayRetry(terms, step, failure, tries))) return outcome;
          break;
        case "pass-over":
          await passOver(terms, step, failure);
          return { ok: true, stdout: "", passedOver: true };
        default:
          return verb === "ADD" ? { ok: false, fault: withReason(failure, whyNotOpen(rule, index, step.plugin.type)) } : outcome;
      }
    }
  };
  return run.ended === undefined ? runByRule : Object.assign(runByRule, { ended: run.ended });
}

/** The chain whose rules act, and the runner of its steps. */
interface RuledChain {
  readonly call: Call;
  readonly chain: ChainIdentity;
  readonly run: RunStep;
}

/** Prepares a further try: undoes a failed ADD, and waits. False: there is no time, or the undo failed, so the failure counts. */
async function mayRetry(
  { call: { deadline, events }, chain, run }: RuledChain,
  step: ChainStep,
  failure: Fault,
  tries: number,
): Promise<boolean> {
  const pauseMs = retryPauseMs(tries);
  // A try without time would replace the plugin's own error by a time-out.
  const hasTime = (): boolean => deadline.stepMs > pauseMs;
  if (!hasTime()) return false;
  if (step.verb === "ADD" && (!(await run(undoOf(chain, step))).ok || !hasTime())) return false;
  tellRetried(events, chain, step, failure, tries);
  await setTimeout(pauseMs);
  return true;
}

async function passOver({ call: { events }, chain, run }: RuledChain, step: ChainStep, failure: Fault): Promise<void> {
  if (step.verb !== "ADD") return tellPassedOver(events, chain, step, failure);
  const undone: StepOutcome = failure.notBegun === true ? { ok: true, stdout: "" } : await run(undoOf(chain, step));
  chain.onPassedOver?.(passedOverStepOf(step.index, failure, undone.ok));
  tellPassedOver(events, chain, step, failure, undone.ok ? undefined : undone.fault);
}

/** The DEL of a step whose ADD failed. The plugin gets the result that its ADD got, because the attachment has no final result yet. */
function undoOf({ isNameTaken }: ChainIdentity, step: ChainStep): ChainStep {
  const changed = new Map([["CNI_COMMAND", "DEL"], ...(isNameTaken === true ? [["CNI_NETNS", ""] as const] : [])]);
  const env = step.env.map(([name, value]) => [name, changed.get(name) ?? value] as const);
  return { ...step, verb: "DEL", env };
}

function withReason(failure: Fault, reason: string | undefined): Fault {
  if (reason === undefined) return failure;
  return { ...failure, details: failure.details === undefined ? reason : `${reason}\n${failure.details}` };
}
