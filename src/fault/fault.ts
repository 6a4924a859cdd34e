// A fault: an error as data, in the terms of CNI section 5 "Error".

import { catalogue, type FaultKind } from "./catalogue.ts";

/** An error of a call. */
export interface Fault {
  /** Entry of the catalogue, which names who must act and the remedy. */
  readonly kind: FaultKind;
  /** CNI error code (section 5): the catalogue's, or the failing plugin's own. */
  readonly code: number;
  /** One line: what failed, where and why. */
  readonly msg: string;
  /** Further text: a plugin's own details, its stderr, the remedy. */
  readonly details?: string;
  /** True if the step did nothing and will fail in the same way again: its plugin or component can't be started. */
  readonly notBegun?: true;
}

/**
 * Creates a fault of the catalogue's kind. `msg` says what failed, where and why; the remedy comes from the catalogue. `extra`
 * overrides the CNI code (a plugin's own code survives, MO-14) and adds details.
 */
export function fault(kind: FaultKind, msg: string, extra: { readonly code?: number; readonly details?: string } = {}): Fault {
  const entry = catalogue[kind];
  const remedy = `${entry.remedy} [${kind}]`;
  return {
    kind,
    code: extra.code ?? entry.cni,
    msg,
    details: extra.details === undefined || extra.details === "" ? remedy : `${extra.details}\n${remedy}`,
  };
}

/** The fault of a step whose plugin or component can't be started. */
export function neverBegun(reason: Fault): Fault {
  return { ...reason, notBegun: true };
}

/** Several faults of one call as the single error that the runtime gets: the first fault's kind, code and message; the other messages precede its details. Undefined without faults. */
export function joinFaults([first, ...others]: readonly Fault[]): Fault | undefined {
  if (first === undefined || others.length === 0) return first;
  const also = others.map((other) => `also: ${other.msg}`).join("\n");
  return { ...first, details: first.details === undefined ? also : `${also}\n${first.details}` };
}

/** The failing plugin's own fault, with the attachment named in front of its message (MO-14). */
export function located(cause: Fault, source: string, ifname: string): Fault {
  return { ...cause, msg: `network ${source} as ${ifname}: ${cause.msg}` };
}

/** Refusals by the host. */
const refusals: ReadonlySet<FaultKind> = new Set([
  "VERSION_UNSUPPORTED",
  "CAPABILITY_NOT_GRANTED",
  "NOT_GRANTED",
  "DIRECTORY_NOT_ALLOWED",
  "SYSCTL_NOT_ALLOWED",
]);
/** The plugin's refusal of the configuration's version (CNI section 5). */
const incompatibleVersion = 1;
/** The end of the host's remedy, in the details that a delegate passes on. */
const passedOn = /\[(?:NOT_GRANTED|DIRECTORY_NOT_ALLOWED|SYSCTL_NOT_ALLOWED)\]/u;

/**
 * Whether a step was refused for its version or its grant. A delegate can claim it by its details, and gains nothing: it could answer
 * success as well.
 */
export function isRefusal({ kind, code, details = "" }: Fault): boolean {
  return refusals.has(kind) || code === incompatibleVersion || (kind === "DELEGATE_FAILED" && passedOn.test(details));
}
