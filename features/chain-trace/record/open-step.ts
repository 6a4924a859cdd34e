// A step whose recording has begun.

import type {
  ComponentRecord,
  ComponentUsage,
  ImportCall,
  NativeRecord,
  StepPurpose,
  StepRecord,
  StepVerdict,
  TracedOutcome,
} from "../../../src/chain-trace/chain-trace.ts";
import { encodeValue } from "../../../src/chain-trace/import-values.ts";
import { stepRecord } from "../../../src/chain-trace/step-record.ts";
import { verdictsOf } from "../rules/step-verdicts.ts";
import type { StepOutcome } from "../../../src/cni/chain-step.ts";
import { secretValues } from "../../../src/text/secret-values.ts";
import type { Step } from "../../../host/capabilities/step.ts";
import type { ImportBegan, ImportEnded, StepDetail } from "../../../host/capabilities/step-detail.ts";
import type { StepKind } from "../../../host/engine/events/call-events.ts";
import type { TextBudget } from "./text-budget.ts";

/** The step and its place in the call. */
export interface StepToRecord {
  readonly running: Step;
  readonly kind: StepKind;
  readonly purpose: StepPurpose;
  readonly startMs: number;
  readonly now: () => number;
  readonly budget: TextBudget;
  /** Receives the secrets of an input that would exceed the size of a trace. */
  readonly unrecorded: (secrets: ReadonlySet<string>) => void;
}

/** Maximum calls of imports, lines of log and verdicts of a step. */
const maxCalls = 1000;
const maxLines = 1000;
const maxVerdicts = 100;

/** The record of an import's call, which gets its answer later. */
type OpenCall = { -readonly [K in keyof ImportCall]: ImportCall[K] };

/** One step that is being recorded. */
export class OpenStep {
  /** The steps that ran within this one: those of nested calls and of its delegate. */
  readonly steps: OpenStep[] = [];
  readonly #recorded: StepToRecord;
  #stdin: string;
  readonly #omitted = new Set<string>();
  readonly #calls: OpenCall[] = [];
  /** The calls without an answer yet, by their numbers. `isKept`: the call's arguments are recorded, so that its answer may be. */
  readonly #open = new Map<number, { readonly call: OpenCall; readonly begun: number; readonly isKept: boolean }>();
  readonly #log: string[] = [];
  readonly #verdicts: StepVerdict[] = [];
  #component: Omit<ComponentRecord, "calls" | "log" | "usage"> | undefined;
  #usage: ComponentUsage | undefined;
  #native: NativeRecord | undefined;
  #ms: number | undefined;
  #outcome: TracedOutcome = { ok: true, stdout: "" };

  constructor(recorded: StepToRecord) {
    this.#recorded = recorded;
    this.#stdin = this.#keptInput(recorded.running.step.stdin);
  }

  get kind(): StepKind {
    return this.#recorded.kind;
  }

  get purpose(): StepPurpose {
    return this.#recorded.purpose;
  }

  get type(): string {
    return this.#recorded.running.step.plugin.type;
  }

  get network(): string {
    return this.#recorded.running.network;
  }

  get ifname(): string {
    return this.#recorded.running.ifname;
  }

  /** Records a detail of the step. */
  detail(detail: StepDetail): void {
    switch (detail.what) {
      case "component-chosen": {
        const { path, digest, grants, limits } = detail;
        this.#component = { path, digest, grants: definedOnly(grants), limits: definedOnly(limits) };
        return;
      }
      case "configuration-completed":
        this.#hide(this.#stdin);
        this.#stdin = this.#keptInput(detail.stdin);
        return;
      case "import-began":
        return this.#begin(detail);
      case "import-ended":
        return this.#end(detail);
      case "line-logged":
        if (this.#log.length < maxLines) this.#log.push(this.#kept(detail.line, "log"));
        else this.#omitted.add("log");
        return;
      case "guest-ended":
        this.#usage = detail.usage;
        return;
      case "process-ended": {
        const { path, exit, stderr } = detail.native;
        this.#native = { path, exit, stderr: this.#kept(stderr, "stderr") };
        return;
      }
      case "decided":
        return this.verdict(detail.verdict);
      default:
        return detail satisfies never;
    }
  }

  verdict(verdict: StepVerdict): void {
    if (this.#verdicts.length < maxVerdicts) this.#verdicts.push(verdict);
    else this.#omitted.add("verdicts");
  }

  end(ms: number, outcome: StepOutcome): void {
    this.#ms = ms;
    if (outcome.ok) this.#outcome = { ok: true, stdout: this.#kept(outcome.stdout, "stdout") };
    else {
      const { kind, code, msg, details } = outcome.fault;
      this.#outcome = { ok: false, fault: { kind, code, msg, details: details && this.#kept(details, "details") } };
    }
  }

  record(): StepRecord {
    const { running, kind, purpose, startMs } = this.#recorded;
    const { step, origin, network, ifname } = running;
    if (this.#ms === undefined) this.#omitted.add("outcome");
    const component = this.#component && { ...this.#component, calls: this.#calls, log: this.#log, usage: this.#usage };
    return stepRecord({
      network,
      ifname,
      verb: step.verb,
      type: step.plugin.type,
      kind,
      caller: origin,
      purpose,
      startMs: rounded(startMs),
      ms: rounded(this.#ms ?? 0),
      env: Object.fromEntries(step.env.filter(([name]) => name.startsWith("CNI_"))),
      stdin: this.#stdin,
      outcome: this.#outcome,
      native: this.#native,
      component,
      verdicts: [...this.#verdicts, ...verdictsOf(this.#outcome, component)],
      omitted: [...this.#omitted],
      steps: this.steps.map((each) => each.record()),
    });
  }

  #begin({ call: number, capability, func, args }: ImportBegan): void {
    if (this.#calls.length >= maxCalls) {
      this.#omitted.add("calls");
      return;
    }
    const call: OpenCall = { capability, func, args: [], answer: null, ms: 0, isCut: true };
    this.#calls.push(call);
    const encoded = this.#bounded(args);
    if (encoded !== undefined) call.args = encoded;
    this.#open.set(number, { call, begun: this.#recorded.now(), isKept: encoded !== undefined });
  }

  #end({ call: number, answer, failed }: ImportEnded): void {
    const open = this.#open.get(number);
    if (open === undefined) return;
    this.#open.delete(number);
    const { call, begun, isKept } = open;
    call.ms = rounded(this.#recorded.now() - begun);
    const [value] = this.#bounded([answer]) ?? [];
    if (failed || value === undefined || !isKept) return;
    call.answer = value;
    delete call.isCut;
  }

  /** Values as JSON; undefined if the trace would exceed its size. */
  #bounded(values: readonly unknown[]): readonly unknown[] | undefined {
    const encoded = values.map((value) => encodeValue(value));
    if (this.#recorded.budget.charge(JSON.stringify(encoded).length)) return encoded;
    this.#omitted.add("calls");
    return undefined;
  }

  /** The input, or nothing if the trace would exceed its size: its secrets are then taken out of the outputs all the same. */
  #keptInput(stdin: string): string {
    const kept = this.#kept(stdin, "stdin");
    if (kept !== stdin) this.#hide(stdin);
    return kept;
  }

  #hide(stdin: string): void {
    this.#recorded.unrecorded(secretValues({ stdin, env: [] }));
  }

  #kept(text: string, field: string): string {
    const kept = this.#recorded.budget.take(text);
    if (kept === undefined) this.#omitted.add(field);
    return kept ?? "";
  }
}

/** Without members that are undefined, as JSON writes it. */
function definedOnly(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? {}));
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
