// The outcome of a work whose last request had this answer.

import type { ObjectAnswer } from "../../cluster/kube/api-objects.ts";
import type { WorkOutcome } from "../../cluster/work/work-queue.ts";

/** The outcome of a work by its last request. An object that is gone needs no work; a conflict means that the watch brings a newer state. */
export function outcomeOf(answer: ObjectAnswer): WorkOutcome {
  if (answer.kind === "object" || answer.kind === "absent") return { kind: "done" };
  if (answer.kind === "conflict") return answer;
  return { kind: "failed", why: answer.why, ...("pauseMs" in answer ? { pauseMs: answer.pauseMs } : {}) };
}
