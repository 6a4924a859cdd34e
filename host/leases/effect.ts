// What a lease operation asks of the outside: the lock that native host-local takes too. Node has no flock, so an
// operation is a generator that yields lock effects, and whoever drives it has them done (the hands: LOCK, UNLOCK).

import { failed, type Result } from "../../src/fault/result.ts";
import { storeBusy, storeFailed } from "./store-fault.ts";

export type LeaseEffect =
  | { readonly kind: "lock"; readonly path: string; readonly deadlineMs: number }
  | { readonly kind: "unlock"; readonly path: string };

/** The answer to a `lock`: 0, or the errno (110: the deadline passed). An `unlock`'s answer is not looked at. */
export interface LeaseAnswer {
  readonly errno: number;
}

/** An operation on the store: yields effects, ends with its result. Every lock it took, it gives back. */
export type LeaseOperation<T> = Generator<LeaseEffect, T, LeaseAnswer>;

const ETIMEDOUT = 110;

/**
 * Runs `work` while holding the exclusive lock at `path`. `work` is synchronous and may throw: the lock is given
 * back on every path, also when the driver abandons the operation (generator.return or throw).
 */
export function* underLock<T>(path: string, deadlineMs: number, work: () => Result<T>): LeaseOperation<Result<T>> {
  const { errno } = yield { kind: "lock", path, deadlineMs };
  if (errno === ETIMEDOUT) return failed(storeBusy(path, deadlineMs));
  if (errno !== 0) return failed(storeFailed("lock", path, errno));
  try {
    return work();
  } finally {
    yield { kind: "unlock", path };
  }
}

/** Drives an operation where effects can be done on the spot (a blocking stream to the hands, a test). */
export function runSync<T>(operation: LeaseOperation<T>, perform: (effect: LeaseEffect) => LeaseAnswer): T {
  let step = operation.next();
  while (step.done !== true) {
    let answer: LeaseAnswer;
    try {
      answer = perform(step.value);
    } catch (error) {
      step = operation.throw(error);
      continue;
    }
    step = operation.next(answer);
  }
  return step.value;
}

/** Drives an operation where effects take their time. */
export async function runAsync<T>(
  operation: LeaseOperation<T>,
  perform: (effect: LeaseEffect) => Promise<LeaseAnswer>,
): Promise<T> {
  let step = operation.next();
  while (step.done !== true) {
    let answer: LeaseAnswer;
    try {
      answer = await perform(step.value);
    } catch (error) {
      step = operation.throw(error);
      continue;
    }
    step = operation.next(answer);
  }
  return step.value;
}
