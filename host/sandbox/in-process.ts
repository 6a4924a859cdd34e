// Runs guests in the engine's process, if the administrator has chosen that for the one-shot engine. README.md lists the protection that only a
// sandbox process gives.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { fault } from "../../src/fault/fault.ts";
import { hostFault, resultOf } from "./call-result.ts";
import { CompiledComponents } from "./compile.ts";
import { inertLine } from "../../src/text/inert-text.ts";
import { InstanceMemory } from "./instance-memory.ts";
import { type Callable, callGuest, type CallOutcome, callSuspendable } from "./linker/call.ts";
import { answersAtOnce } from "./linker/may-wait.ts";
import type { CapabilityCall } from "./linker/link.ts";
import { lateFault } from "./linker/meter.ts";
import { isLogLevel } from "./linker/log-import.ts";
import type { CapabilityImports, GuestCall, GuestRunner, GuestSuccess, Verb } from "./runner.ts";

/** Calls a capability's function by name. `imports` must have the capability as an own property. Throws what the function throws. */
export function callCapability(imports: object, capability: string, func: string, args: readonly unknown[]): unknown {
  const object: unknown = Object.hasOwn(imports, capability) ? Reflect.get(imports, capability) : undefined;
  const found: unknown = typeof object === "object" && object !== null ? Reflect.get(object, func) : undefined;
  if (typeof found !== "function") throw new Error(`the granted capability ${capability} has no function ${func}`);
  return Reflect.apply(found, object, args);
}

/**
 * A runner whose guests share this process. A component with a capability that may wait, also for a file's lock, is suspended during an import: its
 * capabilities may answer later and may run other guests here. The capabilities of other components answer synchronously.
 */
export class InProcessRunner implements GuestRunner {
  readonly #compiled = new CompiledComponents();
  readonly #memory = new InstanceMemory();

  async call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>> {
    return answersAtOnce(call.component.plan.capabilities) ? this.callNow(call, imports) : this.#callSuspendable(call, imports);
  }

  /** As `call`, synchronously, with synchronous capabilities. */
  callNow<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Result<GuestSuccess<V>> {
    const callable = this.#callable(call);
    if (!callable.ok) return callable;
    const outcome = callGuest(callable.value, { ...call, ungranted: call.component.ungranted }, (name, func, args) => {
      const answer = callOrLog(imports, name, func, args);
      if (answer instanceof Promise) throw new Error(`the capability ${name} answered a promise in a synchronous call`);
      return answer;
    });
    return this.#resultOf(call, outcome);
  }

  async #callSuspendable<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>> {
    const callable = this.#callable(call);
    if (!callable.ok) return callable;
    const capability: CapabilityCall = (name, func, args) => callOrLog(imports, name, func, args);
    const { outcome, abandon } = callSuspendable(callable.value, { ...call, ungranted: call.component.ungranted }, capability);
    const timer = setTimeout(() => abandon(lateFault(call.deadlineMs)), call.deadlineMs);
    try {
      return this.#resultOf(call, await outcome);
    } finally {
      clearTimeout(timer);
    }
  }

  #callable<V extends Verb>({ component, verb }: GuestCall<V>): Result<Callable> {
    try {
      return ok(this.#compiled.get(component.key) ?? this.#compiled.add(component));
    } catch (error) {
      if (error instanceof WebAssembly.CompileError)
        return hostFault(component, verb, "COMPONENT_REFUSED", `does not compile: ${error.message}`);
      return failed(fault("INTERNAL", `the sandbox: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  #resultOf<V extends Verb>({ component, verb }: GuestCall<V>, outcome: CallOutcome): Result<GuestSuccess<V>> {
    this.#memory.add(outcome.kind === "answered" ? outcome.report.abandonedBytes : brokenBytes(outcome));
    this.#memory.collectIfMuch();
    return resultOf(component, verb, outcome);
  }

  async close(): Promise<void> {}
}

// At least 1 MiB: each memory also reserves 8 GiB of address space, so many small memories must cause a collection, too.
function brokenBytes({ abandonedBytes = 0 }: CallOutcome & { readonly kind: "broken" }): number {
  return Math.max(abandonedBytes, 1024 * 1024);
}

function callOrLog(imports: CapabilityImports, capability: string, func: string, args: readonly unknown[]): unknown {
  return capability === "log" ? writeLog(imports, args) : callCapability(imports, capability, func, args);
}

function writeLog(imports: CapabilityImports, [level, message]: readonly unknown[]): void {
  if (isLogLevel(level) && typeof message === "string") imports.log?.write(level, inertLine(message, message.length));
}
