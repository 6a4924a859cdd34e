// Records a reconciler round in the metrics.

import type { Metrics } from "./metrics.ts";
import { findingKinds, type HandledKind, handlings, type RoundReport } from "../../node/reconcile/finding.ts";

/** Counts the round's findings by kind and handling. */
export function countRound(metrics: Metrics, { findings, problems, ms }: RoundReport): void {
  metrics.add("plexus_reconcile_rounds_total", { outcome: problems.length === 0 ? "done" : "failed" });
  metrics.observe("plexus_reconcile_round_duration_seconds", {}, ms / 1000);
  for (const kind of findingKinds) {
    const count = (wanted: HandledKind["handling"]): number =>
      findings.filter((each) => each.kind === kind && each.handling === wanted).length;
    for (const handling of handlings) metrics.set("plexus_reconcile_findings", { kind, handling }, count(handling));
    metrics.add("plexus_reconcile_cleaned_total", { kind }, count("cleaned"));
    metrics.add("plexus_reconcile_failures_total", { kind }, count("failed") + count("given-up"));
  }
}

/** Counts what a call of the runtime undid. */
export function countUndone(metrics: Metrics, { kind, handling }: HandledKind): void {
  if (handling === "cleaned") metrics.add("plexus_reconcile_cleaned_total", { kind });
  if (handling === "failed" || handling === "given-up") metrics.add("plexus_reconcile_failures_total", { kind });
}
