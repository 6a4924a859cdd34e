// Counts the runs of shadows since the daemon's start, for `plexusctl status`.

import type { ShadowReport } from "../../src/step-policy/shadow-report.ts";
import { harmlessMessage } from "../../src/text/inert-text.ts";

/** Maximum number of pairs of types. An administrator configures a few. */
const maxPairs = 64;

interface Counts {
  runs: number;
  mismatches: number;
  /** Runs without a comparison. */
  others: number;
  /** The last text that was no match. */
  last: string;
}

/** The counts of one daemon. */
export class ShadowCounts {
  readonly #pairs = new Map<string, Counts>();

  /** Whether a shadow has run. */
  get isEmpty(): boolean {
    return this.#pairs.size === 0;
  }

  note({ type, shadow, outcome, text }: Pick<ShadowReport, "type" | "shadow" | "outcome"> & { readonly text: string }): void {
    const pair = `${shadow} beside ${type}`;
    if (!this.#pairs.has(pair) && this.#pairs.size >= maxPairs) return;
    const counts = this.#pairs.get(pair) ?? { runs: 0, mismatches: 0, others: 0, last: "" };
    counts.runs += 1;
    if (outcome === "mismatch") counts.mismatches += 1;
    else if (outcome !== "match") counts.others += 1;
    if (text !== "") counts.last = harmlessMessage(text);
    this.#pairs.set(pair, counts);
  }

  /** One sentence for each pair of types. */
  text(): string {
    return [...this.#pairs]
      .map(([pair, { runs, mismatches, others, last }]) => {
        const latest = last === "" ? "" : `; the last ${last}`;
        return `${pair}: ${runs} runs, ${mismatches} mismatches, ${others} not compared${latest}`;
      })
      .join(". ");
  }
}
