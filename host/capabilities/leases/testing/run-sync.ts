// A driver of lease operations for tests that call them synchronously.

import type { LockAnswer, LockRequest } from "../../../store/locks/file-lock.ts";
import type { LeaseOperation } from "../effect.ts";

/** Runs an operation; `take` takes its locks, and may block the thread. */
export function runSync<T>(operation: LeaseOperation<T>, take: (request: LockRequest) => LockAnswer): T {
  let step = operation.next();
  while (step.done !== true) step = operation.next(take(step.value));
  return step.value;
}
