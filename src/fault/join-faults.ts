// Joins several faults of one call to the single error that the runtime gets.

import type { Fault } from "./fault.ts";

/** The first fault's kind, code and message; the other messages precede its details. Undefined without faults. */
export function joinFaults([first, ...others]: readonly Fault[]): Fault | undefined {
  if (first === undefined || others.length === 0) return first;
  const also = others.map((other) => `also: ${other.msg}`).join("\n");
  return { ...first, details: first.details === undefined ? also : `${also}\n${first.details}` };
}
