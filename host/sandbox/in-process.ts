// Runs guests in the process itself: for the one-shot brain, which lives for one call anyway.
// README.md says what this contains and what it doesn't.

import { failed, type Result } from "../../src/fault/result.ts";
import { fault } from "../../src/fault/fault.ts";
import { hostFault, resultOf } from "./answer.ts";
import { CompiledComponents } from "./compile.ts";
import { inertLine } from "./inert-text.ts";
import { InstanceMemory } from "./instance-memory.ts";
import { callGuest, type CallOutcome } from "./linker/call.ts";
import type { CapabilityCall } from "./linker/link.ts";
import { isLogLevel } from "./linker/log-import.ts";
import type { CapabilityImports, GuestCall, GuestRunner, GuestSuccess, Verb } from "./runner.ts";

/** Finds a capability's function by name; own properties of the capability's object or its class only. */
export function callCapability(imports: object, capability: string, func: string, args: readonly unknown[]): unknown {
  const object: unknown = Object.hasOwn(imports, capability) ? Reflect.get(imports, capability) : undefined;
  const found: unknown = typeof object === "object" && object !== null ? Reflect.get(object, func) : undefined;
  if (typeof found !== "function") throw new Error(`the capability ${capability} was granted but is not there`);
  return Reflect.apply(found, object, args);
}

/** A runner whose guests share this process. Its capabilities must answer at once. */
export class InProcessRunner implements GuestRunner {
  private readonly compiled = new CompiledComponents();
  private readonly memory = new InstanceMemory();

  async call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>> {
    return this.callNow(call, imports);
  }

  /** As `call`, at once. */
  callNow<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Result<GuestSuccess<V>> {
    const { component, verb, request, limits, deadlineMs } = call;
    const capability: CapabilityCall = (name, func, args) => {
      if (name === "log") return writeLog(imports, args);
      const answer = callCapability(imports, name, func, args);
      if (answer instanceof Promise)
        throw new Error(`the capability ${name} answers later, which works in a sandbox process only`);
      return answer;
    };
    let outcome: CallOutcome;
    try {
      const callable = this.compiled.get(component.key) ?? this.compiled.add(component);
      outcome = callGuest(callable, { verb, request, limits, deadlineMs }, capability);
    } catch (error) {
      if (error instanceof WebAssembly.CompileError)
        return hostFault(component, verb, "COMPONENT_REFUSED", `does not compile: ${error.message}`);
      return failed(fault("INTERNAL", `the sandbox: ${error instanceof Error ? error.message : String(error)}`));
    }
    // What a broken call had is not known any more: at most its limit.
    this.memory.ended(outcome.kind === "answered" ? outcome.report.abandonedBytes : limits.memoryPages * 65_536);
    this.memory.tidy();
    return resultOf(component, verb, outcome);
  }

  async close(): Promise<void> {}
}

function writeLog(imports: CapabilityImports, [level, message]: readonly unknown[]): void {
  if (isLogLevel(level) && typeof message === "string") imports.log?.write(level, inertLine(message, message.length));
}
