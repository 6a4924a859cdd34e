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
