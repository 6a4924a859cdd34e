// The differences of two outcomes of a step, and of two traces.

import { boundedJson } from "../../../src/json/bounded-json.ts";
import { jsonChanges, type JsonChange } from "../../../src/json/json-changes.ts";
import type { ChainTrace, StepRecord, TracedOutcome } from "../../../src/chain-trace/chain-trace.ts";

/** A difference: a sentence, and the changed places if both sides are JSON. */
export interface Difference {
  readonly text: string;
  readonly changes: readonly JsonChange[];
}

/** How the outcome `now` differs from the outcome `before`; undefined: they are equal, apart from a fault's details. */
export function outcomeDifference(before: TracedOutcome, now: TracedOutcome): Difference | undefined {
  if (before.ok && now.ok) {
    if (before.stdout === now.stdout) return undefined;
    const { changes } = jsonChanges(parsed(before.stdout), parsed(now.stdout));
    return { text: "another result", changes };
  }
  if (before.ok !== now.ok) return { text: `${shown(now)}; recorded: ${shown(before)}`, changes: [] };
  if (shown(before) === shown(now)) return undefined;
  return { text: `${shown(now)}; recorded: ${shown(before)}`, changes: [] };
}

/** The differences of one step, or of the call itself. */
export interface StepDifference {
  /** The step, such as `ADD bridge (network pods as eth0)`; `call` for request and reply. */
  readonly step: string;
  readonly only?: "before" | "after";
  /** Changes of the step as a document: input, result, native, component, verdicts, omitted. */
  readonly changes: readonly JsonChange[];
}

/** The differences between two traces. Times, container ids and paths of namespaces differ between all calls: only `changes` of texts show them. */
export function traceDifferences(before: ChainTrace, after: ChainTrace): readonly StepDifference[] {
  const call = changesOf(callDocument(before), callDocument(after));
  const found: StepDifference[] = call.length === 0 ? [] : [{ step: "call", changes: call }];
  return [...found, ...stepDifferences(before.steps, after.steps, "")];
}

/** The name of a step in a list of differences. */
export function stepName({ verb, type, network, ifname, purpose }: StepRecord): string {
  const at = ifname === "" ? network : `${network} as ${ifname}`;
  return `${verb} ${type}${purpose === "undo" ? " (undo)" : ""} of ${at}`;
}

/** Steps are matched by name; steps of the same name by order. */
function stepDifferences(before: readonly StepRecord[], after: readonly StepRecord[], above: string): readonly StepDifference[] {
  const found: StepDifference[] = [];
  const unmatched = [...after];
  for (const step of before) {
    const name = `${above}${stepName(step)}`;
    const index = unmatched.findIndex((other) => stepName(other) === stepName(step));
    const [other] = index === -1 ? [] : unmatched.splice(index, 1);
    if (other === undefined) {
      found.push({ step: name, only: "before", changes: [] });
      continue;
    }
    const changes = changesOf(stepDocument(step), stepDocument(other));
    if (changes.length > 0) found.push({ step: name, changes });
    found.push(...stepDifferences(step.steps, other.steps, `${name} > `));
  }
  for (const step of unmatched) found.push({ step: `${above}${stepName(step)}`, only: "after", changes: [] });
  return found;
}

function changesOf(before: unknown, after: unknown): readonly JsonChange[] {
  return jsonChanges(before, after).changes;
}

function callDocument({ call, reply }: ChainTrace): unknown {
  return { ...call, stdin: parsed(call.stdin), status: reply.status, reply: parsed(reply.stdout) };
}

function stepDocument({ kind, caller, env, stdin, outcome, native, component, verdicts, omitted }: StepRecord): unknown {
  const { calls = [], usage: _, ...rest } = component ?? { calls: [] };
  return {
    kind,
    caller,
    env,
    stdin: parsed(stdin),
    outcome: outcome.ok ? { ok: true, stdout: parsed(outcome.stdout) } : outcome,
    native,
    ...(component === undefined ? {} : { component: rest }),
    calls: calls.map(({ capability, func, args, answer }) => ({ call: `${capability}.${func}`, args, answer })),
    verdicts,
    omitted,
  };
}

/** JSON as a value, so that its places are compared; another text as it is. */
function parsed(text: string): unknown {
  return boundedJson(text) ?? text;
}

function shown(outcome: TracedOutcome): string {
  if (outcome.ok) return "success";
  const { kind, code, msg } = outcome.fault;
  return `${kind} (code ${code}): ${msg}`;
}
