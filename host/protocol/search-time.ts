// The time for which a shim looked for an engine: it belongs to the time that the runtime gives to the call.

import type { Environment } from "./fields.ts";

/** The variable that the shim adds to REQUEST's environment if it had to wait. */
export const searchTimeVariable = "PLEXUS_WAITED_MS";

/** Milliseconds for which the shim looked for an engine; 0 if it found one at once, or if the variable is not the shim's. */
export function searchTimeMs(environment: Environment): number {
  const text = environment.get(searchTimeVariable) ?? "";
  return /^\d{1,6}$/u.test(text) ? Number(text) : 0;
}
