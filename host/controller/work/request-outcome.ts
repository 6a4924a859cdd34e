// The outcome of a work that consists of requests.

import type { ObjectAnswer } from "../../cluster/kube/api-objects.ts";
import type { WorkOutcome } from "../../cluster/work/work-queue.ts";

/** The outcome of a work by its last request. An object that is gone needs no work; a conflict means that the watch brings a newer state. */
export function outcomeOf(answer: ObjectAnswer): WorkOutcome {
  if (answer.kind === "object" || answer.kind === "absent") return { kind: "done" };
  if (answer.kind === "conflict") return answer;
  return { kind: "failed", why: answer.why, ...("pauseMs" in answer ? { pauseMs: answer.pauseMs } : {}) };
}

/** Works on each in turn, until a work is not done. */
export async function inTurn<T>(all: readonly T[], work: (each: T) => Promise<WorkOutcome>): Promise<WorkOutcome> {
  for (const each of all) {
    const outcome = await work(each);
    if (outcome.kind !== "done") return outcome;
  }
  return { kind: "done" };
}
