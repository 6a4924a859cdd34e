// Several faults of one call as the one that the runtime can be told.

import type { Fault } from "./fault.ts";

/** The first fault's kind, code and message, with the others' messages ahead of its details; undefined where there is none. */
export function joinFaults([first, ...others]: readonly Fault[]): Fault | undefined {
  if (first === undefined || others.length === 0) return first;
  const also = others.map((other) => `also: ${other.msg}`).join("\n");
  return { ...first, details: first.details === undefined ? also : `${also}\n${first.details}` };
}
