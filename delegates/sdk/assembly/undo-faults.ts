// Faults of an undo, which are reported together with the fault that caused the undo.

import { Fault } from "./abi/types";

/** Adds the failure of an undo to `fault`, if the undo failed. */
export function addUndoFault(failed: Fault | null, fault: Fault, what: string): void {
  if (failed !== null) addDetail(fault, what, failed);
}

/** Adds to `fault` that `what` also happened, and why. */
export function addDetail(fault: Fault, what: string, why: Fault): void {
  const before = fault.details;
  const text = `${what}: ${why.msg}`;
  fault.details = before === null || before == "" ? text : `${before}; ${text}`;
}
