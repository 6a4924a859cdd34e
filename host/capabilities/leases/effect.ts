// Lease operations as generators. An operation needs the lock that native host-local also takes, and may have to wait for it. It
// yields a lock request, and its driver takes the lock. The kit's leases in memory need no lock, so their caller runs them synchronously.

import { failed, type Result } from "../../../src/fault/result.ts";
import type { LockAnswer, LockRequest } from "../../store/locks/file-lock.ts";
import { ETIMEDOUT } from "../../system/errno.ts";
import { storeBusy, storeFailed } from "./store-fault.ts";

/** An operation on leases: yields lock requests and ends with its result. It releases every lock that it receives. */
export type LeaseOperation<T> = Generator<LockRequest, T, LockAnswer>;

/**
 * Runs `work` while holding the exclusive lock at `path`, which it releases also if `work` throws. `deadlineMs`: maximum milliseconds
 * to wait. Faults: STORE_BUSY after the deadline, STORE_FAILED, and those of `work`.
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

/** Runs an operation and awaits the lock, so that the process serves other calls meanwhile. */
export async function runAsync<T>(operation: LeaseOperation<T>, take: (request: LockRequest) => Promise<LockAnswer>): Promise<T> {
  let step = operation.next();
  while (step.done !== true) step = operation.next(await take(step.value));
  return step.value;
}
