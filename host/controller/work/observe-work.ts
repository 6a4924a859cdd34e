// What a part of the controller tells about its work: metrics, and a line in the log for a failure.

import type { PartContext } from "../part.ts";
import type { WorkQueueInit } from "../../cluster/work/work-queue.ts";

/** The observer of a part's queue. A conflict is the normal guard of a write, and no warning: the object has a newer state. */
export function observeWork(
  { metrics, log }: Pick<PartContext, "metrics" | "log">,
  part: string,
): NonNullable<WorkQueueInit["onWorked"]> {
  return (key, outcome, ms) => {
    metrics.add("plexus_controller_work_total", { part, outcome: outcome.kind });
    metrics.observe("plexus_controller_work_duration_seconds", { part }, ms / 1000);
    if (outcome.kind === "failed") log("warn", `${key}: ${outcome.why}`);
    if (outcome.kind === "conflict") log("debug", `${key}: ${outcome.why}`);
  };
}
