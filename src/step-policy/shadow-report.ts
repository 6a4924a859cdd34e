// The report of one run of a shadow.

import type { ChainStep } from "../cni/chain-step.ts";
import type { JsonChange } from "../json/json-changes.ts";

/**
 * How a shadow's run ended. `match`, `mismatch`: it was compared. `inconclusive`: the answers differ, but so did the states that both saw.
 * `refused`: the component could not run as a shadow. `skipped`: there was no time.
 */
export const shadowOutcomes = ["match", "mismatch", "inconclusive", "refused", "skipped"] as const;

/** See `shadowOutcomes`. */
export type ShadowOutcome = (typeof shadowOutcomes)[number];

/** The report. */
export interface ShadowReport {
  readonly verb: ChainStep["verb"];
  /** The native plugin's type: a step's, or the `ipam.type` of one. */
  readonly type: string;
  /** The component's type. */
  readonly shadow: string;
  readonly outcome: ShadowOutcome;
  /** The differences of a mismatch, from the native result to the shadow's. */
  readonly changes: readonly JsonChange[];
  /** Why there is no comparison, or why the shadow failed; empty otherwise. */
  readonly why: string;
}

/** Maximum length of the differences, or of a reason, in a log line, in UTF-16 units. */
const maxText = 2000;

/** The report as the end of a sentence; empty for a match. */
export function shadowText({ outcome, changes, why: whole }: ShadowReport): string {
  const why = whole.slice(0, maxText);
  switch (outcome) {
    case "match":
      return "";
    case "mismatch":
      return why === "" ? `differs: ${JSON.stringify(changes).slice(0, maxText)}` : `differs: ${why}`;
    case "inconclusive":
      return `was not compared: ${why}`;
    case "refused":
      return `could not run: ${why}`;
    case "skipped":
      return `was skipped: ${why}`;
    default:
      return outcome satisfies never;
  }
}
