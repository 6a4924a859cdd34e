// Faults of what should have taken something back: they are told with the fault that made it necessary.

import { Fault } from "plexus/abi/types";

/** Adds to `fault` what came of taking something back, if anything did. */
export function unless(failed: Fault | null, fault: Fault, what: string): void {
  if (failed !== null) andThen(fault, what, failed);
}

/** Adds to `fault` that `what` happened besides, and why. */
export function andThen(fault: Fault, what: string, why: Fault): void {
  const before = fault.details;
  const text = `${what}: ${why.msg}`;
  fault.details = before === null || before == "" ? text : `${before}; ${text}`;
}
