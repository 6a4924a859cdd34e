// Runs one call of a verb on a fresh instance: instantiate, lower the request, call, lift the answer. `callGuest` is synchronous, with
// synchronous imports. `callSuspendable` suspends the guest during an import, so that other calls run meanwhile.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { Budget, VerbGlue } from "../abi/guest.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import { abiVersions } from "../abi/versions.ts";
import type { Limits } from "../limits.ts";
import { CallState } from "./call-state.ts";
import { classify } from "./classify.ts";
import { LinkedComponent, type CapabilityCall, type Linkable } from "./link.ts";
import { Meter, MeterFunction } from "./meter.ts";
import type { PlanVerb } from "./plan.ts";

/** The resources that a call used. */
export interface CallReport {
  /** Bytes of linear memory at the end. */
  readonly memoryBytes: number;
  /** The part of these bytes that is left to the garbage collector. */
  readonly abandonedBytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly instantiateUs: number;
  readonly totalUs: number;
  /** The executed code (Meter.fuel); only of a component that was examined with `countsFuel`. */
  readonly fuel?: number;
}

/** The outcome of a guest's call. */
export type CallOutcome =
  /** The delegate answered: a success or its own error. */
  | { readonly kind: "answered"; readonly answer: unknown; readonly report: CallReport }
  /** The delegate gave no answer; the message continues "the delegate …". `lastLines`: what it wrote as error before, as it wrote it. */
  | {
      readonly kind: "broken";
      readonly fault: FaultKind;
      readonly message: string;
      readonly lastLines?: string;
      readonly abandonedBytes?: number;
    };

/** A compiled component. */
export interface Callable extends Linkable {
  /** Instances that were made in advance for the next call. */
  prepared?: LinkedComponent | undefined;
}

/** One call. `deadlineMs` limits the whole call, `limits.timeMs` the guest's own time. */
export interface VerbCall {
  readonly verb: string;
  readonly request: unknown;
  readonly limits: Limits;
  readonly deadlineMs: number;
  /** Imported capabilities that are not granted: all are optional. Absent: none. */
  readonly ungranted?: readonly string[] | undefined;
}

/** Calls a verb on a fresh instance. Never throws. */
export function callGuest(component: Callable, call: VerbCall, capability: CapabilityCall): CallOutcome {
  const running = new GuestRun(component, call, capability, false);
  try {
    const { func, args } = running.enter();
    return running.leave(func(...args));
  } catch (error) {
    return running.failed(error);
  } finally {
    running.close();
  }
}

/** A call whose guest is suspended during its imports. */
export interface SuspendableCall {
  /** Never rejects. */
  readonly outcome: Promise<CallOutcome>;
  /** Ends the call if its guest is suspended. Has no effect on a running guest, which the meter ends, or on an ended call. */
  abandon(fault: GuestFault): void;
}

/**
 * Calls a verb on a fresh instance. Returns when the guest is suspended for the first time or has ended. The caller must watch the
 * deadline while the guest is suspended.
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
    return running.failed(error);
  } finally {
    running.close();
  }
}

/**
 * Makes the instances for the component's next call in advance. `suspends`: the next call is `callSuspendable`. An error is ignored here,
 * because the call repeats and reports it.
 */
export function prepareInstances(component: Callable, suspends: boolean): void {
  const abi = abiVersions[component.plan.abi];
  if (component.prepared !== undefined || abi === undefined) return;
  try {
    component.prepared = new LinkedComponent(component, abi, suspends);
  } catch {
    component.prepared = undefined;
  }
}

/** Takes the prepared instances, which are for one call only. */
function takePrepared(component: Callable): LinkedComponent | undefined {
  const { prepared } = component;
  component.prepared = undefined;
  return prepared;
}

class GuestRun {
  readonly state: CallState;
  readonly #meter: Meter;
  readonly #meterFunction: MeterFunction;
  readonly #budget: Budget;
  #linked: LinkedComponent | undefined;
  #glue: VerbGlue | undefined;
  #plan: PlanVerb | undefined;
  #started = 0;
  #instantiated = 0;
  readonly #component: Callable;
  readonly #call: VerbCall;
  readonly #capability: CapabilityCall;
  readonly #suspends: boolean;

  constructor(component: Callable, call: VerbCall, capability: CapabilityCall, suspends: boolean) {
    const { limits, deadlineMs } = call;
    this.#component = component;
    this.#call = call;
    this.#capability = capability;
    this.#suspends = suspends;
    this.#meter = new Meter(limits.timeMs, deadlineMs);
    this.#meterFunction = MeterFunction.forMeter(this.#meter);
    this.state = new CallState(limits.importCalls, this.#meter);
    this.#budget = { input: limits.inputBytes, output: limits.outputBytes };
  }

  /** Prepares the call: answers the exported function and its arguments. */
  enter(): { readonly func: (...args: number[]) => unknown; readonly args: readonly number[] } {
    const component = this.#component;
    const { verb, request, limits, ungranted = [] } = this.#call;
    const abi = abiVersions[component.plan.abi];
    const glue = abi?.verbs[verb];
    const plan = component.plan.verbs[verb];
    if (abi === undefined || glue === undefined || plan === undefined)
      throw new Error(`no verb ${verb} in ABI ${component.plan.abi}`);
    this.#glue = glue;
    this.#plan = plan;
    this.#started = performance.now();
    const linked = takePrepared(component) ?? new LinkedComponent(component, abi, this.#suspends);
    this.#linked = linked;
    linked.begin({
      limits,
      state: this.state,
      meterFunction: this.#meterFunction,
      budget: this.#budget,
      capability: this.#capability,
      ungranted,
    });
    this.#instantiated = performance.now();
    const guest = linked.guest(plan.through);
    guest.refresh();
    const args = glue.lower(guest, request);
    this.state.run();
    return { func: linked.func(plan.func), args };
  }

  /** Lifts the answer from the pointer that the exported function returned. */
  leave(pointer: unknown): CallOutcome {
    const { state } = this;
    const linked = this.#linked;
    const glue = this.#glue;
    const plan = this.#plan;
    const { limits } = this.#call;
    if (linked === undefined || glue === undefined || plan === undefined) throw new Error("leave() was called before enter()");
    state.leave();
    if (state.firstError !== undefined) throw state.firstError;
    if (typeof pointer !== "number") throw new GuestFault("ABI_VIOLATED", "returned no pointer");
    const guest = linked.guest(plan.through);
    guest.refresh();
    const answer = glue.lift(guest, pointer);
    if (plan.postReturn !== undefined) linked.func(plan.postReturn)(pointer);
    if (state.firstError !== undefined) throw state.firstError;
    linked.endOutput();
    const ended = performance.now();
    const { fuel } = this.#meter;
    const report = {
      ...(fuel === undefined ? {} : { fuel }),
      memoryBytes: linked.memoryBytes(),
      abandonedBytes: linked.release(),
      inputBytes: limits.inputBytes - this.#budget.input,
      outputBytes: limits.outputBytes - this.#budget.output,
      instantiateUs: Math.round((this.#instantiated - this.#started) * 1000),
      totalUs: Math.round((ended - this.#started) * 1000),
    };
    return { kind: "answered", answer, report };
  }

  /** The outcome of a call that ended with an error. */
  failed(error: unknown): CallOutcome {
    const { limits } = this.#call;
    const bytes = this.#linked?.memoryBytes();
    const outcome = classify(this.state.firstError ?? error, bytes ?? 0, limits);
    const lastLines = this.#linked?.endOutput() ?? "";
    this.#linked?.detach();
    return {
      kind: "broken",
      ...outcome,
      ...(lastLines === "" ? {} : { lastLines }),
      abandonedBytes: bytes ?? limits.memoryPages * 65_536,
    };
  }

  close(): void {
    // From here on the time belongs to the host or another guest.
    this.#meter.pause();
    this.#meterFunction.release();
  }
}
