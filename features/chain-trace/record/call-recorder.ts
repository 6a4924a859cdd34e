// Records one call for its chain trace. The texts are kept until the call ends; then secrets are taken out and the trace is written.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { ChainTrace, StepRecord, TracedCall, TracedReply } from "../../../src/chain-trace/chain-trace.ts";
import { redactTrace } from "../rules/redact-trace.ts";
import { secretValues } from "../../../src/text/secret-values.ts";
import type { Step } from "../../../host/capabilities/step.ts";
import { version } from "../../../host/system/version.ts";
import type { CallEvent, StepBegan, StepEnded, Subscriber } from "../../../host/engine/events/call-events.ts";
import { OpenStep } from "./open-step.ts";
import { TextBudget } from "./text-budget.ts";

/** Maximum steps of a trace, nested ones included. */
const maxSteps = 1000;

/** The recorder of one call, which subscribes to the call's events. */
export class CallRecorder implements Subscriber {
  readonly recordsDetails = true;
  readonly #call: TracedCall;
  /** A monotonic clock, in milliseconds. */
  readonly #now: () => number;
  /** The time of day at the call's beginning. */
  readonly #time: Date;
  readonly #started: number;
  readonly #budget = new TextBudget();
  readonly #steps: OpenStep[] = [];
  /** The steps that have not ended, the last begun one last. */
  readonly #running: OpenStep[] = [];
  /** The steps that have begun, by their numbers. */
  readonly #byRun = new Map<number, OpenStep>();
  readonly #byStep = new WeakMap<ChainStep, OpenStep>();
  readonly #omitted = new Set<string>();
  readonly #unrecordedSecrets = new Set<string>();
  #count = 0;

  constructor(call: TracedCall, now: () => number, time: Date) {
    this.#call = call;
    this.#now = now;
    this.#time = time;
    this.#started = now();
  }

  readonly receive = (event: CallEvent): void => {
    switch (event.what) {
      case "step-began":
        return this.#begin(event);
      case "step-detail":
        return this.#byRun.get(event.run)?.detail(event.detail);
      case "step-decided":
        // Further tries of a step are steps of their own: the last one gets the verdict.
        return this.#byStep.get(event.step)?.verdict(event.verdict);
      case "step-ended":
        return this.#end(event);
      default:
    }
  };

  #begin({ run, kind, step: running }: StepBegan): void {
    this.#count += 1;
    if (this.#count > maxSteps) {
      this.#omitted.add(`steps after the first ${maxSteps}`);
      this.#hide(secretValues(running.step));
      return;
    }
    const parent = this.#parentOf(running);
    const isUndo = this.#call.verb === "ADD" && running.step.verb === "DEL" && running.origin === "chain";
    const open = new OpenStep({
      running,
      kind,
      purpose: parent?.purpose ?? (isUndo ? "undo" : "call"),
      startMs: this.#now() - this.#started,
      now: this.#now,
      budget: this.#budget,
      unrecorded: (secrets) => this.#hide(secrets),
    });
    (parent?.steps ?? this.#steps).push(open);
    this.#running.push(open);
    this.#byRun.set(run, open);
    this.#byStep.set(running.step, open);
  }

  #end({ run, ms, outcome }: StepEnded): void {
    const open = this.#byRun.get(run);
    if (open === undefined) return;
    open.end(ms, outcome);
    this.#running.splice(this.#running.indexOf(open), 1);
  }

  /** The trace of the call, without secrets. */
  trace(reply: TracedReply, ms: number): ChainTrace {
    const steps = this.#steps.map((step): StepRecord => step.record());
    if (this.#running.length > 0) this.#omitted.add("the end of steps that had not ended with the call");
    const trace = {
      plexus: version,
      time: this.#time.toISOString(),
      ms: rounded(ms),
      call: this.#call,
      reply,
      steps,
      secrets: 0,
    };
    return redactTrace({ ...trace, omitted: [...this.#omitted] }, this.#unrecordedSecrets);
  }

  #hide(secrets: ReadonlySet<string>): void {
    for (const secret of secrets) this.#unrecordedSecrets.add(secret);
  }

  /**
   * The step whose plugin calls this one: the last begun step of the same network and interface that may have called it. A nested call has no
   * other sign of its caller.
   */
  #parentOf({ origin, network, ifname, callers }: Step): OpenStep | undefined {
    if (origin === "chain") return undefined;
    const kind = origin === "delegate" ? "wasm" : "native";
    const caller = origin === "delegate" ? callers.at(-1) : undefined;
    const candidates = this.#running.filter((step) => step.kind === kind && (caller === undefined || step.type === caller));
    return (
      candidates.findLast((step) => step.network === network && step.ifname === ifname) ??
      candidates.findLast((step) => step.network === network)
    );
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
