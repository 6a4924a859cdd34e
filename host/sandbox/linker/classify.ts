// Maps the error that ended a guest's call to a fault.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import type { Limits } from "../limits.ts";

/** The fault's kind, and a message that continues "the delegate …". `memoryBytes`: the size of the linear memory at the end. */
export function classify(
  error: unknown,
  memoryBytes: number,
  limits: Limits,
): { readonly fault: FaultKind; readonly message: string } {
  if (error instanceof GuestFault) return { fault: error.kind, message: error.message };
  if (error instanceof WebAssembly.RuntimeError) {
    const maxBytes = limits.memoryPages * 65_536;
    // A guest whose `memory.grow` fails gets a return value and usually traps afterwards.
    if (memoryBytes > maxBytes - maxBytes / 8)
      return {
        fault: "LIMIT_MEMORY",
        message: `trapped (${error.message}) with ${memoryBytes} of its ${maxBytes} bytes of memory in use`,
      };
    return { fault: "DELEGATE_TRAPPED", message: `trapped: ${error.message}` };
  }
  if (error instanceof WebAssembly.SuspendError) {
    return { fault: "ABI_VIOLATED", message: "calls an import while it is being instantiated, allocating or cleaning up" };
  }
  if (error instanceof RangeError) {
    if (/call stack/.test(error.message)) return { fault: "LIMIT_RECURSION", message: "recursed deeper than the stack" };
    return { fault: "LIMIT_MEMORY", message: `could not get its memory: ${error.message}` };
  }
  if (error instanceof WebAssembly.LinkError || error instanceof WebAssembly.CompileError) {
    return { fault: "COMPONENT_REFUSED", message: `cannot be linked: ${error.message}` };
  }
  return { fault: "INTERNAL", message: `could not be served: ${error instanceof Error ? error.message : String(error)}` };
}
