// One call of a verb on a fresh instance, synchronous: instantiate, lower the request, call, lift the answer.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { Budget } from "../abi/guest.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import { abiVersions } from "../abi/versions.ts";
import type { Limits } from "../limits.ts";
import { CallState } from "./call-state.ts";
import { LinkedComponent, type CapabilityCall } from "./link.ts";
import { Meter, metered } from "./meter.ts";
import type { MemoryPool } from "./memory-pool.ts";
import type { LinkPlan } from "./plan.ts";

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
  | { readonly kind: "broken"; readonly fault: FaultKind; readonly message: string };

export interface Callable {
  readonly plan: LinkPlan;
  readonly modules: readonly WebAssembly.Module[];
  /** By number of the core module; those without a memory of their own have none. */
  readonly memories: readonly MemoryPool[];
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
  const meter = new Meter(call.limits.timeMs, call.deadlineMs);
  return metered(meter, () => callMetered(component, call, capability, new CallState(call.limits.importCalls, meter)));
}

function callMetered(
  component: Callable,
  { verb, request, limits }: VerbCall,
  capability: CapabilityCall,
  state: CallState,
): CallOutcome {
  const budget: Budget = { input: limits.inputBytes, output: limits.outputBytes };
  let linked: LinkedComponent | undefined;
  try {
    const abi = abiVersions[component.plan.abi];
    const glue = abi?.verbs[verb];
    const plan = component.plan.verbs[verb];
    if (abi === undefined || glue === undefined || plan === undefined)
      throw new Error(`no verb ${verb} in ABI ${component.plan.abi}`);
    const started = performance.now();
    linked = new LinkedComponent(component.plan, component.modules, component.memories, {
      abi,
      limits,
      state,
      budget,
      capability,
    });
    const instantiated = performance.now();
    const guest = linked.guest(plan.through);
    guest.refresh();
    const args = glue.lower(guest, request);
    state.run();
    const pointer = linked.func(plan.func)(...args);
    state.leave();
    if (state.broken !== undefined) throw state.broken;
    if (typeof pointer !== "number") throw new GuestFault("ABI_VIOLATED", "answers no pointer");
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
      instantiateUs: Math.round((instantiated - started) * 1000),
      totalUs: Math.round((ended - started) * 1000),
    };
    return { kind: "answered", answer, report };
  } catch (error) {
    return { kind: "broken", ...classify(state.broken ?? error, linked?.memoryBytes() ?? 0, limits) };
  }
}

function classify(error: unknown, memoryBytes: number, limits: Limits): { readonly fault: FaultKind; readonly message: string } {
  if (error instanceof GuestFault) return { fault: error.kind, message: error.message };
  if (error instanceof WebAssembly.RuntimeError) {
    const most = limits.memoryPages * 65_536;
    // A guest learns that its memory can't grow from a return value, and then traps by itself.
    if (memoryBytes > most - most / 8)
      return {
        fault: "LIMIT_MEMORY",
        message: `trapped (${error.message}) with ${memoryBytes} of its ${most} bytes of memory in use`,
      };
    return { fault: "DELEGATE_TRAPPED", message: `trapped: ${error.message}` };
  }
  if (error instanceof RangeError) {
    if (/call stack/.test(error.message)) return { fault: "LIMIT_RECURSION", message: "recursed deeper than the stack" };
    return { fault: "LIMIT_MEMORY", message: `could not be given memory: ${error.message}` };
  }
  if (error instanceof WebAssembly.LinkError || error instanceof WebAssembly.CompileError) {
    return { fault: "COMPONENT_REFUSED", message: `does not fit together: ${error.message}` };
  }
  return { fault: "INTERNAL", message: `could not be served: ${error instanceof Error ? error.message : String(error)}` };
}
