// Environment variables that are Plexus' own: those that an engine sets for a native plugin, and the shim's in a request.
//
// The shim takes a plugin's other variables from the runtime, and refuses an EXEC that sets one of them (host/shim/PROTOCOL.md): a loader's or an interpreter's
// variable would let an engine run its own code as root.

import type { EnvironmentPair } from "../../src/cni/environment.ts";
import { traceVariables } from "../../src/trace/trace-context.ts";
import type { Environment } from "./fields.ts";

/** Passes the callers of a delegated plugin through a native plugin to its nested calls. */
export const callersVariable = "PLEXUS_CALLERS";
/** The number of CPUs that a plugin written in Go uses. */
export const goProcessors = "GOMAXPROCS";

const names: ReadonlySet<string> = new Set([...traceVariables, callersVariable, goProcessors]);

/** The variables of a plugin's environment that EXEC carries. `CNI_PATH` is the runtime's. */
export function engineVariables(environment: Iterable<EnvironmentPair>): Map<string, string> {
  const variables = new Map<string, string>();
  for (const [name, value] of environment)
    if (names.has(name) || (name.startsWith("CNI_") && name !== "CNI_PATH")) variables.set(name, value);
  return variables;
}

/** The variable that the shim adds to REQUEST's environment if it had to wait. */
export const searchTimeVariable = "PLEXUS_WAITED_MS";

/**
 * Milliseconds for which the shim looked for an engine: they belong to the time that the runtime gives to the call. 0 if it found one at once, or if the
 * variable is not the shim's.
 */
export function searchTimeMs(environment: Environment): number {
  const text = environment.get(searchTimeVariable) ?? "";
  return /^\d{1,6}$/u.test(text) ? Number(text) : 0;
}
