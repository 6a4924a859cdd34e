// A fault: what went wrong, as data, in the terms of CNI section 5 "Error".

import { catalogue, type FaultKind } from "./catalogue.ts";

export interface Fault {
  /** Entry of the catalogue; it says who must act and how. */
  readonly kind: FaultKind;
  /** CNI error code (section 5): the catalogue's, or the failing plugin's own. */
  readonly code: number;
  /** One line: what, where and why. */
  readonly msg: string;
  /** The rest: a plugin's own details, its stderr, the remedy. */
  readonly details?: string;
}

/**
 * Makes a fault of the catalogue's kind. `msg` says what, where and why; the remedy comes from the catalogue.
 * `own` overrides the CNI code (a plugin's code survives, MO-14) and adds details.
 */
export function fault(kind: FaultKind, msg: string, own: { readonly code?: number; readonly details?: string } = {}): Fault {
  const entry = catalogue[kind];
  const remedy = `${entry.remedy} [${kind}]`;
  return {
    kind,
    code: own.code ?? entry.cni,
    msg,
    details: own.details === undefined || own.details === "" ? remedy : `${own.details}\n${remedy}`,
  };
}
