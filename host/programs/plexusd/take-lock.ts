// Locks for a call of the daemon, which must not outlive its shim.

import type { Shim } from "../../protocol/shim.ts";
import type { AsyncLocks } from "../../store/locks/async-locks.ts";
import type { LockAnswer, LockRequest } from "../../store/locks/file-lock.ts";

/** Interval at which a call that waits for a lock checks that its shim is still connected, in ms. */
const intervalMs = 500;

/** Takes a lock. Throws ShimGone if the shim disconnects meanwhile: its container may already be deleted, so the call must not continue. */
export async function takeLockFor(shim: Shim, locks: AsyncLocks, wanted: LockRequest): Promise<LockAnswer> {
  const taken = locks.tryTake(wanted);
  if (taken !== undefined) return taken;
  const gone = new AbortController();
  const look = setInterval(() => {
    try {
      shim.ensureConnected();
    } catch (error) {
      gone.abort(error);
    }
  }, intervalMs);
  try {
    return await locks.take(wanted, gone.signal);
  } finally {
    clearInterval(look);
  }
}
