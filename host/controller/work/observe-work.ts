// The report of a part's work: metrics, and a line in the log for a failure.

import type { PartContext } from "../part.ts";
import type { ReflectorState } from "../../cluster/kube/reflector.ts";
import type { OnWorked } from "../../cluster/work/work-queue.ts";

/** The observer of a part's queue. A conflict is the normal guard of a write, and no warning: the object has a newer state. */
export function observeWork({ metrics, log }: Pick<PartContext, "metrics" | "log">, part: string): OnWorked {
  return (key, outcome, ms) => {
    metrics.add("plexus_controller_work_total", { part, outcome: outcome.kind });
    metrics.observe("plexus_controller_work_duration_seconds", { part }, ms / 1000);
    if (outcome.kind === "failed") log("warn", `${key}: ${outcome.why}`);
    if (outcome.kind === "conflict") log("debug", `${key}: ${outcome.why}`);
  };
}

/** Sets the metrics of a part's queue and of the collections that it watches, at each scrape. */
export function observeState(
  { metrics }: PartContext,
  part: string,
  queue: { readonly size: number },
  states: () => readonly ReflectorState[],
): void {
  metrics.onScrape(() => {
    metrics.set("plexus_controller_queue_objects", { part }, queue.size);
    for (const { what, live, objects } of states()) {
      metrics.set("plexus_controller_watch_live", { collection: what }, Number(live));
      metrics.set("plexus_controller_watch_objects", { collection: what }, objects);
    }
  });
}
