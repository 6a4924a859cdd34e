// The result of one check of doctor.

import type { Finding } from "../../../src/lint/finding.ts";

/** The result of one check. */
export interface NodeCheck {
  readonly name: string;
  readonly found: string;
  /** Null if the check has passed. A warning: Plexus works, but slower or with less. A note: a fact that an administrator may want to change. */
  readonly finding: Finding | null;
}

/** A check that has passed. */
export function passed(name: string, found: string): NodeCheck {
  return { name, found, finding: null };
}

/** A check with an error. */
export function failed(name: string, found: string, why: string, remedy: string): NodeCheck {
  return { name, found, finding: { severity: "error", message: `${found}: ${why}.`, remedy } };
}

/** A check with a warning. */
export function warned(name: string, found: string, why: string, remedy: string): NodeCheck {
  return { name, found, finding: { severity: "warning", message: `${found}: ${why}.`, remedy } };
}

/** A check with a note. */
export function noted(name: string, found: string, why: string, remedy: string): NodeCheck {
  return { name, found, finding: { severity: "note", message: `${found}: ${why}.`, remedy } };
}

/** A check that has passed, or has an error. */
export function verdict(isGood: boolean, name: string, found: string, why: string, remedy: string): NodeCheck {
  return isGood ? passed(name, found) : failed(name, found, why, remedy);
}
