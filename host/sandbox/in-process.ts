// Runs guests in the process itself: for the one-shot brain, which lives for one call anyway.
// README.md says what this contains and what it doesn't.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { fault } from "../../src/fault/fault.ts";
import { hostFault, resultOf } from "./answer.ts";
import { CompiledComponents } from "./compile.ts";
import { inertLine } from "./inert-text.ts";
import { InstanceMemory } from "./instance-memory.ts";
import { type Callable, callGuest, type CallOutcome, callSuspendable } from "./linker/call.ts";
import { mayWait } from "./linker/may-wait.ts";
import type { CapabilityCall } from "./linker/link.ts";
import { lateFault } from "./linker/meter.ts";
import { isLogLevel } from "./linker/log-import.ts";
import type { CapabilityImports, GuestCall, GuestRunner, GuestSuccess, Verb } from "./runner.ts";

/** Finds a capability's function by name; own properties of the capability's object or its class only. */
export function callCapability(imports: object, capability: string, func: string, args: readonly unknown[]): unknown {
  const object: unknown = Object.hasOwn(imports, capability) ? Reflect.get(imports, capability) : undefined;
  const found: unknown = typeof object === "object" && object !== null ? Reflect.get(object, func) : undefined;
  if (typeof found !== "function") throw new Error(`the capability ${capability} was granted but is not there`);
  return Reflect.apply(found, object, args);
}

/**
 * A runner whose guests share this process. A component whose imports may wait is suspended meanwhile, so that its capabilities may
 * answer later and may run other guests here; those of the others must answer at once.
 */
export class InProcessRunner implements GuestRunner {
  private readonly compiled = new CompiledComponents();
  private readonly memory = new InstanceMemory();

  async call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>> {
    return mayWait(call.component.capabilities) ? this.callSuspendable(call, imports) : this.callNow(call, imports);
  }

  /** As `call`, at once, with capabilities that answer at once. */
  callNow<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Result<GuestSuccess<V>> {
    const callable = this.callable(call);
    if (!callable.ok) return callable;
    const outcome = callGuest(callable.value, call, (name, func, args) => {
      const answer = callOrLog(imports, name, func, args);
      if (answer instanceof Promise) throw new Error(`the capability ${name} answers later, which this call can't wait for`);
      return answer;
    });
    return this.ended(call, outcome);
  }

  private async callSuspendable<V extends Verb>(
    call: GuestCall<V>,
    imports: CapabilityImports,
  ): Promise<Result<GuestSuccess<V>>> {
    const callable = this.callable(call);
    if (!callable.ok) return callable;
    const capability: CapabilityCall = (name, func, args) => callOrLog(imports, name, func, args);
    const { outcome, abandon } = callSuspendable(callable.value, call, capability);
    const timer = setTimeout(() => abandon(lateFault(call.deadlineMs)), call.deadlineMs);
    try {
      return this.ended(call, await outcome);
    } finally {
      clearTimeout(timer);
    }
  }

  private callable<V extends Verb>({ component, verb }: GuestCall<V>): Result<Callable> {
    try {
      return ok(this.compiled.get(component.key) ?? this.compiled.add(component));
    } catch (error) {
      if (error instanceof WebAssembly.CompileError)
        return hostFault(component, verb, "COMPONENT_REFUSED", `does not compile: ${error.message}`);
      return failed(fault("INTERNAL", `the sandbox: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  private ended<V extends Verb>({ component, verb }: GuestCall<V>, outcome: CallOutcome): Result<GuestSuccess<V>> {
    this.memory.ended(outcome.kind === "answered" ? outcome.report.abandonedBytes : brokenBytes(outcome));
    this.memory.tidy();
    return resultOf(component, verb, outcome);
  }

  async close(): Promise<void> {}
}

// A memory is 8 GiB of address space beside its bytes, so that many small ones are not left to the collector either.
function brokenBytes({ abandonedBytes = 0 }: CallOutcome & { readonly kind: "broken" }): number {
  return Math.max(abandonedBytes, 1024 * 1024);
}

function callOrLog(imports: CapabilityImports, capability: string, func: string, args: readonly unknown[]): unknown {
  return capability === "log" ? writeLog(imports, args) : callCapability(imports, capability, func, args);
}

function writeLog(imports: CapabilityImports, [level, message]: readonly unknown[]): void {
  if (isLogLevel(level) && typeof message === "string") imports.log?.write(level, inertLine(message, message.length));
}
