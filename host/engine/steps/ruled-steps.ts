// Runs the steps of one chain by the administrator's rules: tries a failed step again, or passes it over. A step that is tried again or
// passed over in ADD is undone first, by its own DEL.

import { setTimeout } from "node:timers/promises";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { describePlugin, type RunStep } from "../../../src/cni/chains.ts";
import { passedOverStepOf } from "../../../src/cni/failed-step.ts";
import { stepRule, type StepRules } from "../../../src/configuration/step-rules.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { decide, retryPauseMs, whyNotOpen } from "../../../src/step-policy/failure-policy.ts";
import { redactorOf } from "../../../src/text/secret-values.ts";
import type { Call, ChainIdentity } from "../call.ts";
import type { CallEvents } from "../events/call-events.ts";
import { type ShadowReport, shadowText } from "../../../src/step-policy/shadow-report.ts";

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

/** The chain of a step. */
interface Chain {
  readonly network: string;
  readonly ifname: string;
}

function describe({ network, ifname }: Chain, { plugin, verb }: ChainStep): string {
  const at = ifname === "" ? "" : ` as ${ifname}`;
  return `network ${network}${at}: ${verb} of plugin ${describePlugin(plugin)}`;
}

/** Tells that a failed step is tried again. `tries`: the number of tries so far. */
export function tellRetried(events: CallEvents, chain: Chain, step: ChainStep, failure: Fault, tries: number): void {
  const { network, ifname } = chain;
  const text = `failed with code ${failure.code} and is tried again (try ${tries + 1}): ${failure.msg}`;
  events.tell({ what: "step-retried", step, network, ifname, fault: failure });
  events.tell({ what: "step-decided", step, verdict: { kind: "failure-policy", text } });
  events.warn(`${describe(chain, step)} ${text}`);
}

/** Tells that a failed step is passed over. `undoing`: the fault of its DEL; undefined if the DEL succeeded or was not needed. */
export function tellPassedOver(events: CallEvents, chain: Chain, step: ChainStep, failure: Fault, undoing?: Fault): void {
  const { network, ifname } = chain;
  const left = undoing === undefined ? "" : `. Its DEL failed too; the attachment's DEL tries again: ${undoing.msg}`;
  const text = `failed and was passed over (failure policy "open"): ${failure.msg}${left}`;
  events.tell({ what: "step-passed-over", step, network, ifname, fault: failure });
  events.tell({ what: "step-decided", step, verdict: { kind: "failure-policy", text } });
  events.warn(`${describe(chain, step)} ${text}`);
}

/** Tells that a shadow has run beside the step, or could not. */
export function tellShadow(events: CallEvents, chain: Chain, step: ChainStep, report: ShadowReport): void {
  // The text may have parts of the step's configuration.
  const text = redactorOf(step)(shadowText(report));
  const shadow = `the shadow ${report.shadow} of ${report.type}`;
  events.tell({ what: "shadow-ended", network: chain.network, report, text });
  events.tell({
    what: "step-decided",
    step,
    verdict: { kind: "shadow", text: `${shadow} ${text === "" ? "answers the same" : text}` },
  });
  if (text !== "") events.warn(`${describe(chain, step)}: ${shadow} ${text}`);
}
