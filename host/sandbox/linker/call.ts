// One call of a verb on a fresh instance: instantiate, lower the request, call, lift the answer. In two ways: at once, with imports
// that answer at once; or suspended while an import is answered, so that other calls run meanwhile.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { Budget, VerbGlue } from "../abi/guest.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import { abiVersions } from "../abi/versions.ts";
import type { Limits } from "../limits.ts";
import { CallState } from "./call-state.ts";
import { classify } from "./classify.ts";
import { LinkedComponent, type CapabilityCall, type Linkable } from "./link.ts";
import { Meter, MeterPassage } from "./meter.ts";
import type { PlanVerb } from "./plan.ts";

/** What a call took. */
export interface CallReport {
  /** Bytes of linear memory at the end, and those of them that are left to be collected. */
  readonly memoryBytes: number;
  readonly abandonedBytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Microseconds of instantiating, and of all. */
  readonly instantiateUs: number;
  readonly totalUs: number;
}

export type CallOutcome =
  /** The delegate answered: a success or its own error. */
  | { readonly kind: "answered"; readonly answer: unknown; readonly report: CallReport }
  /** It did not; the message continues "the delegate …". */
  | { readonly kind: "broken"; readonly fault: FaultKind; readonly message: string; readonly abandonedBytes?: number };

export interface Callable extends Linkable {
  /** Instances that were made before the call that will have them. */
  ready?: LinkedComponent | undefined;
}

/** One call: `deadlineMs` bounds all of it, `limits.timeMs` what the guest itself takes. */
export interface VerbCall {
  readonly verb: string;
  readonly request: unknown;
  readonly limits: Limits;
  readonly deadlineMs: number;
}

/** Calls a verb on a fresh instance. Never throws. */
export function callGuest(component: Callable, call: VerbCall, capability: CapabilityCall): CallOutcome {
  const running = new GuestRun(component, call, capability, false);
  try {
    const { func, args } = running.enter();
    return running.leave(func(...args));
  } catch (error) {
    return running.broke(error);
  } finally {
    running.close();
  }
}

/** A call whose guest is suspended while it waits. */
export interface SuspendableCall {
  /** Never rejects. */
  readonly outcome: Promise<CallOutcome>;
  /** Ends the call where its guest is suspended; nothing where it runs, which its meter bounds, or where it has ended. */
  abandon(fault: GuestFault): void;
}

/**
 * Calls a verb on a fresh instance and returns when the guest waits for the first time, or has ended. The deadline is the caller's to
 * watch while the guest is suspended.
 */
export function callSuspendable(component: Callable, call: VerbCall, capability: CapabilityCall): SuspendableCall {
  const running = new GuestRun(component, call, capability, true);
  return { outcome: suspendable(running), abandon: (fault) => running.state.abandon(fault) };
}

async function suspendable(running: GuestRun): Promise<CallOutcome> {
  try {
    const { func, args } = running.enter();
    return running.leave(await WebAssembly.promising(func)(...args));
  } catch (error) {
    return running.broke(error);
  } finally {
    running.close();
  }
}

/**
 * Makes the instances that the next call of the component will have, while nobody waits for them; `suspends`: by `callSuspendable`. What
 * does not work here is said by the call.
 */
export function makeReady(component: Callable, suspends: boolean): void {
  const abi = abiVersions[component.plan.abi];
  if (component.ready !== undefined || abi === undefined) return;
  try {
    component.ready = new LinkedComponent(component, abi, suspends);
  } catch {
    component.ready = undefined;
  }
}

/** Ready instances are one call's. */
function taken(component: Callable): LinkedComponent | undefined {
  const { ready } = component;
  component.ready = undefined;
  return ready;
}

class GuestRun {
  readonly state: CallState;
  private readonly meter: Meter;
  private readonly passage: MeterPassage;
  private readonly budget: Budget;
  private linked: LinkedComponent | undefined;
  private glue: VerbGlue | undefined;
  private plan: PlanVerb | undefined;
  private started = 0;
  private instantiated = 0;
  private readonly component: Callable;
  private readonly call: VerbCall;
  private readonly capability: CapabilityCall;
  private readonly suspends: boolean;

  constructor(component: Callable, call: VerbCall, capability: CapabilityCall, suspends: boolean) {
    const { limits, deadlineMs } = call;
    this.component = component;
    this.call = call;
    this.capability = capability;
    this.suspends = suspends;
    this.meter = new Meter(limits.timeMs, deadlineMs);
    this.passage = MeterPassage.to(this.meter);
    this.state = new CallState(limits.importCalls, this.meter);
    this.budget = { input: limits.inputBytes, output: limits.outputBytes };
  }

  /** Up to the call of the exported function. */
  enter(): { readonly func: (...args: number[]) => unknown; readonly args: readonly number[] } {
    const { component, state, budget, capability, suspends } = this;
    const { verb, request, limits } = this.call;
    const abi = abiVersions[component.plan.abi];
    const glue = abi?.verbs[verb];
    const plan = component.plan.verbs[verb];
    if (abi === undefined || glue === undefined || plan === undefined)
      throw new Error(`no verb ${verb} in ABI ${component.plan.abi}`);
    this.glue = glue;
    this.plan = plan;
    this.started = performance.now();
    const linked = taken(component) ?? new LinkedComponent(component, abi, suspends);
    this.linked = linked;
    linked.begin({ limits, state, meter: this.passage, budget, capability });
    this.instantiated = performance.now();
    const guest = linked.guest(plan.through);
    guest.refresh();
    const args = glue.lower(guest, request);
    state.run();
    return { func: linked.func(plan.func), args };
  }

  /** From the pointer that it answered. */
  leave(pointer: unknown): CallOutcome {
    const { linked, glue, plan, state, budget } = this;
    const { limits } = this.call;
    if (linked === undefined || glue === undefined || plan === undefined) throw new Error("left before it was entered");
    state.leave();
    if (state.broken !== undefined) throw state.broken;
    if (typeof pointer !== "number") throw new GuestFault("ABI_VIOLATED", "answers no pointer");
    const guest = linked.guest(plan.through);
    guest.refresh();
    const answer = glue.lift(guest, pointer);
    if (plan.postReturn !== undefined) linked.func(plan.postReturn)(pointer);
    if (state.broken !== undefined) throw state.broken;
    const ended = performance.now();
    const report = {
      memoryBytes: linked.memoryBytes(),
      abandonedBytes: linked.end(),
      inputBytes: limits.inputBytes - budget.input,
      outputBytes: limits.outputBytes - budget.output,
      instantiateUs: Math.round((this.instantiated - this.started) * 1000),
      totalUs: Math.round((ended - this.started) * 1000),
    };
    return { kind: "answered", answer, report };
  }

  broke(error: unknown): CallOutcome {
    const { limits } = this.call;
    const bytes = this.linked?.memoryBytes();
    const outcome = classify(this.state.broken ?? error, bytes ?? 0, limits);
    this.linked?.drop();
    return { kind: "broken", ...outcome, abandonedBytes: bytes ?? limits.memoryPages * 65_536 };
  }

  close(): void {
    // What comes behind is the host's or another guest's.
    this.meter.pause();
    this.passage.close();
  }
}
