// Runs the steps of one chain by the administrator's rules: tries a failed step again, or passes it over. A step that is tried again or
// passed over in ADD is undone first, by its own DEL.

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { type PassedOverStep, passedOverStepOf } from "../../../src/cni/failed-step.ts";
import type { RunStep } from "../../../src/cni/run-chain.ts";
import { stepRule, type StepRules } from "../../../src/configuration/step-rules.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { decide, retryPauseMs, whyNotOpen } from "../../../src/step-policy/failure-policy.ts";
import type { StepReports } from "./step-reports.ts";

/** The rules of one chain, and what they need from the call. */
export interface RuleRunnerInit {
  readonly rules: StepRules;
  /** Runs a step once. */
  readonly run: RunStep;
  readonly reports: Pick<StepReports, "retried" | "passedOver">;
  /** The call's remaining time. */
  readonly deadline: { readonly stepMs: number };
  readonly pause: (ms: number) => Promise<void>;
  /** ADD: the pod had a link with the interface name before, which the undo of a step must not remove. */
  readonly isNameTaken: boolean;
  /** ADD: receives each step that is passed over, before the next step runs. */
  readonly onPassedOver?: (step: PassedOverStep) => void;
}

/** Makes the runner of a chain's steps. Its outcome of a step that is passed over is a success with `passedOver`. */
export function runByRules(init: RuleRunnerInit): RunStep {
  const { rules, run } = init;
  const runByRule = async (step: ChainStep): Promise<StepOutcome> => {
    const rule = stepRule(rules, step.plugin.type);
    const { verb, index } = step;
    for (let tries = 1; ; tries++) {
      const outcome = await run(step);
      if (outcome.ok) return outcome;
      const failure = outcome.fault;
      switch (decide(rule, { verb, index, fault: failure, tries })) {
        case "retry":
          if (!(await mayRetry(init, step, failure, tries))) return outcome;
          break;
        case "pass-over":
          await passOver(init, step, failure);
          return { ok: true, stdout: "", passedOver: true };
        default:
          return verb === "ADD" ? { ok: false, fault: withReason(failure, whyNotOpen(rule, index, step.plugin.type)) } : outcome;
      }
    }
  };
  return run.ended === undefined ? runByRule : Object.assign(runByRule, { ended: run.ended });
}

/** Prepares a further try: undoes a failed ADD, and waits. False: there is no time, or the undo failed, so the failure counts. */
async function mayRetry(init: RuleRunnerInit, step: ChainStep, failure: Fault, tries: number): Promise<boolean> {
  const { run, reports, deadline, pause } = init;
  const pauseMs = retryPauseMs(tries);
  // A try without time would replace the plugin's own error by a time-out.
  const hasTime = (): boolean => deadline.stepMs > pauseMs;
  if (!hasTime()) return false;
  if (step.verb === "ADD" && (!(await run(undoOf(init, step))).ok || !hasTime())) return false;
  reports.retried(step, failure, tries);
  await pause(pauseMs);
  return true;
}

async function passOver(init: RuleRunnerInit, step: ChainStep, failure: Fault): Promise<void> {
  const { run, reports, onPassedOver } = init;
  if (step.verb !== "ADD") return reports.passedOver(step, failure, undefined);
  const undone: StepOutcome = failure.notBegun === true ? { ok: true, stdout: "" } : await run(undoOf(init, step));
  onPassedOver?.(passedOverStepOf(step.index, failure, undone.ok));
  reports.passedOver(step, failure, undone.ok ? undefined : undone.fault);
}

/** The DEL of a step whose ADD failed. The plugin gets the result that its ADD got, because the attachment has no final result yet. */
function undoOf({ isNameTaken }: Pick<RuleRunnerInit, "isNameTaken">, step: ChainStep): ChainStep {
  const changed = new Map([["CNI_COMMAND", "DEL"], ...(isNameTaken ? [["CNI_NETNS", ""] as const] : [])]);
  const env = step.env.map(([name, value]) => [name, changed.get(name) ?? value] as const);
  return { ...step, verb: "DEL", env };
}

function withReason(failure: Fault, reason: string | undefined): Fault {
  if (reason === undefined) return failure;
  return { ...failure, details: failure.details === undefined ? reason : `${reason}\n${failure.details}` };
}
