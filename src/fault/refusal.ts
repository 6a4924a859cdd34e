// Refusals: faults of a step that the host or the plugin refused for its version or its grant.

import type { FaultKind } from "./catalogue.ts";
import type { Fault } from "./fault.ts";

const kinds: ReadonlySet<FaultKind> = new Set([
  "VERSION_UNSUPPORTED",
  "CAPABILITY_NOT_GRANTED",
  "NOT_GRANTED",
  "DIRECTORY_NOT_ALLOWED",
  "SYSCTL_NOT_ALLOWED",
]);
/** CNI section 5. */
const incompatibleVersion = 1;
/** The end of the host's remedy, in the details that a delegate passes on. */
const passedOn = /\[(?:NOT_GRANTED|DIRECTORY_NOT_ALLOWED|SYSCTL_NOT_ALLOWED)\]/u;

/**
 * Whether a step was refused for its version or its grant. A delegate can claim it by its details, and gains nothing: it could answer
 * success as well.
 */
export function isRefusal({ kind, code, details = "" }: Fault): boolean {
  return kinds.has(kind) || code === incompatibleVersion || (kind === "DELEGATE_FAILED" && passedOn.test(details));
}
