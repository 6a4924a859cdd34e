// Reads one step of a chain trace, with the steps that it contains.

import type { ObjectReader } from "../configuration/object-reader.ts";
import type {
  ComponentRecord,
  ComponentUsage,
  ImportCall,
  NativeRecord,
  StepRecord,
  StepVerdict,
  TracedOutcome,
} from "./chain-trace.ts";
import { stepRecord } from "./step-record.ts";
import { millisecondsField, objectsField, textField, textsField, verbField } from "./trace-fields.ts";

/** The number of steps and of calls of imports that may still be read. */
export interface StepBudget {
  steps: number;
  calls: number;
}

const maxVerdicts = 1000;

/** The steps of a list. Problems go to the reader. */
export function readSteps(reader: ObjectReader, budget: StepBudget): readonly StepRecord[] {
  const each = objectsField(reader, "steps", budget.steps);
  take(budget, "steps", each.length);
  return each.map((step) => readStep(step, budget));
}

function readStep(reader: ObjectReader, budget: StepBudget): StepRecord {
  const native = reader.object("native");
  const component = reader.object("component");
  return stepRecord({
    network: textField(reader, "network"),
    ifname: textField(reader, "ifname"),
    verb: verbField(reader),
    type: textField(reader, "type"),
    kind: oneOf(reader, "kind", ["native", "wasm"]),
    caller: oneOf(reader, "caller", ["chain", "nested-call", "delegate"]),
    purpose: oneOf(reader, "purpose", ["call", "undo"]),
    startMs: millisecondsField(reader, "startMs"),
    ms: millisecondsField(reader, "ms"),
    env: textsField(reader, "env"),
    stdin: textField(reader, "stdin"),
    outcome: readOutcome(reader),
    native: native && readNative(native),
    component: component && readComponent(component, budget),
    verdicts: objectsField(reader, "verdicts", maxVerdicts).map(readVerdict),
    omitted: reader.strings("omitted") ?? [],
    steps: readSteps(reader, budget),
  });
}

function oneOf<T extends string>(reader: ObjectReader, key: string, values: readonly [T, ...T[]]): T {
  reader.require(key);
  return reader.oneOf(key, values) ?? values[0];
}

function readOutcome(reader: ObjectReader): TracedOutcome {
  reader.require("outcome");
  const outcome = reader.object("outcome");
  if (outcome === undefined) return { ok: true, stdout: "" };
  if (outcome.boolean("ok") === true) return { ok: true, stdout: textField(outcome, "stdout") };
  outcome.require("ok", "fault");
  const reason = outcome.object("fault");
  const code = reason?.value("code");
  if (reason !== undefined && !Number.isSafeInteger(code)) reason.refuse("code", "must be a whole number");
  return {
    ok: false,
    fault: {
      kind: reason === undefined ? "" : textField(reason, "kind"),
      code: typeof code === "number" ? code : 0,
      msg: reason === undefined ? "" : textField(reason, "msg"),
      details: reason?.text("details"),
    },
  };
}

function readNative(reader: ObjectReader): NativeRecord {
  return { path: textField(reader, "path"), exit: textField(reader, "exit"), stderr: textField(reader, "stderr") };
}

function readComponent(reader: ObjectReader, budget: StepBudget): ComponentRecord {
  const calls = objectsField(reader, "calls", budget.calls);
  take(budget, "calls", calls.length);
  const usage = reader.object("usage");
  return {
    path: textField(reader, "path"),
    digest: textField(reader, "digest"),
    grants: reader.value("grants") ?? {},
    limits: reader.value("limits") ?? {},
    calls: calls.map(readCall),
    log: reader.strings("log") ?? [],
    usage: usage && readUsage(usage),
  };
}

function readCall(reader: ObjectReader): ImportCall {
  const args = reader.value("args");
  if (!Array.isArray(args)) reader.refuse("args", "must be a list");
  reader.require("answer");
  return {
    capability: textField(reader, "capability"),
    func: textField(reader, "func"),
    args: Array.isArray(args) ? args : [],
    answer: reader.value("answer"),
    ms: millisecondsField(reader, "ms"),
    ...(reader.boolean("isCut") === true ? { isCut: true } : {}),
  };
}

function readUsage(reader: ObjectReader): ComponentUsage {
  const count = (key: string): number => reader.count(key, Number.MAX_SAFE_INTEGER, 0) ?? 0;
  return {
    memoryBytes: count("memoryBytes"),
    inputBytes: count("inputBytes"),
    outputBytes: count("outputBytes"),
    guestMs: millisecondsField(reader, "guestMs"),
  };
}

function readVerdict(reader: ObjectReader): StepVerdict {
  reader.require("kind");
  const kind = reader.matching("kind", /^[a-z][a-z-]{0,31}$/, "a word in lower case");
  return { kind: kind ?? "", text: textField(reader, "text") };
}

function take(budget: StepBudget, of: keyof StepBudget, count: number): void {
  budget[of] -= count;
}
