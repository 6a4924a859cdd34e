// Takes the secrets out of a chain trace. Tokens stand for them, the same in a step's input and output, so that most steps can still be replayed.

import { SecretTokens } from "../../../src/redact/secret-tokens.ts";
import type { ChainTrace, ComponentRecord, ImportCall, StepRecord, TracedOutcome } from "../../../src/chain-trace/chain-trace.ts";
import { allSteps, stepRecord } from "../../../src/chain-trace/step-record.ts";

/**
 * The trace without secrets. Texts and values without a secret stay as they are. `unrecorded`: the secrets of inputs that were too large
 * for the trace. Outputs may quote them.
 */
export function redactTrace(trace: ChainTrace, unrecorded: Iterable<string> = []): ChainTrace {
  const tokens = new SecretTokens();
  tokens.addValues(unrecorded);
  const { call, reply } = trace;
  tokens.addFrom({ stdin: call.stdin, env: [["CNI_ARGS", call.args]] });
  for (const { stdin, env } of allSteps(trace.steps)) tokens.addFrom({ stdin, env: Object.entries(env) });
  const redacted = {
    ...trace,
    call: { ...call, args: tokens.text(call.args), stdin: tokens.text(call.stdin) },
    reply: { ...reply, stdout: tokens.text(reply.stdout) },
    steps: trace.steps.map((step) => redactStep(step, tokens)),
  };
  const hidden = tokens.isTooMany ? ["every text, because the configurations have too many secrets to search for"] : [];
  return { ...redacted, secrets: tokens.count, omitted: [...trace.omitted, ...hidden] };
}

function redactStep(step: StepRecord, tokens: SecretTokens): StepRecord {
  const { env, stdin, outcome, native, component, verdicts, steps } = step;
  return stepRecord({
    ...step,
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, tokens.text(value)])),
    stdin: tokens.text(stdin),
    outcome: redactOutcome(outcome, tokens),
    native: native && { ...native, stderr: tokens.text(native.stderr) },
    component: component && redactComponent(component, tokens),
    verdicts: verdicts.map(({ kind, text }) => ({ kind, text: tokens.text(text) })),
    steps: steps.map((each) => redactStep(each, tokens)),
  });
}

function redactOutcome(outcome: TracedOutcome, tokens: SecretTokens): TracedOutcome {
  if (outcome.ok) return { ok: true, stdout: tokens.text(outcome.stdout) };
  const { msg, details } = outcome.fault;
  return {
    ok: false,
    fault: { ...outcome.fault, msg: tokens.text(msg), details: details === undefined ? undefined : tokens.text(details) },
  };
}

function redactComponent(component: ComponentRecord, tokens: SecretTokens): ComponentRecord {
  const { calls, log } = component;
  return { ...component, calls: calls.map((call) => redactCall(call, tokens)), log: log.map((line) => tokens.text(line)) };
}

function redactCall(call: ImportCall, tokens: SecretTokens): ImportCall {
  const args = tokens.value(call.args);
  return { ...call, args: Array.isArray(args) ? args : [], answer: tokens.value(call.answer) };
}

/** Whether the step's input, or an answer of its imports, has a token: the plugin had other values than the trace shows. */
export function hasTokens({ stdin, env, component }: StepRecord): boolean {
  const texts = [stdin, ...Object.values(env), JSON.stringify(component?.calls ?? [])];
  return texts.some((text) => text.includes("[redacted"));
}
