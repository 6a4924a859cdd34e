// What a lease operation asks of the outside: the lock that native host-local takes too. It may have to be waited for, so
// an operation is a generator that yields the lock it wants, and whoever drives it takes it, blocking or not.

import { failed, type Result } from "../../src/fault/result.ts";
import { ETIMEDOUT, type LockAnswer, type LockRequest } from "../locks/file-lock.ts";
import { storeBusy, storeFailed } from "./store-fault.ts";

/** An operation on the store: yields the locks it wants, ends with its result. Every lock it was given, it gives back. */
export type LeaseOperation<T> = Generator<LockRequest, T, LockAnswer>;

/**
 * Runs `work` while holding the exclusive lock at `path`. `work` is synchronous and may throw: the lock is given
 * back on every path.
 */
export function* underLock<T>(path: string, deadlineMs: number, work: () => Result<T>): LeaseOperation<Result<T>> {
  const { errno, lock } = yield { path, deadlineMs, shared: false };
  if (errno === ETIMEDOUT) return failed(storeBusy(path, deadlineMs));
  if (lock === undefined) return failed(storeFailed("lock", path, errno));
  try {
    return work();
  } finally {
    lock.release();
  }
}

/** Drives an operation where the thread may block until the lock is had. */
export function runSync<T>(operation: LeaseOperation<T>, take: (request: LockRequest) => LockAnswer): T {
  let step = operation.next();
  while (step.done !== true) step = operation.next(take(step.value));
  return step.value;
}

/** Drives an operation where others are served meanwhile. */
export async function runAsync<T>(operation: LeaseOperation<T>, take: (request: LockRequest) => Promise<LockAnswer>): Promise<T> {
  let step = operation.next();
  while (step.done !== true) step = operation.next(await take(step.value));
  return step.value;
}
