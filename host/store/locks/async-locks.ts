// File locks for an engine that serves many calls at once. Calls of this process queue for a lock in memory, in order. Only the first call
// of the queue contends with other processes for the file.

import type { Shim } from "../../protocol/shim.ts";
import { monotonicMs } from "../../system/clock.ts";
import { ETIMEDOUT } from "../../system/errno.ts";
import { type FileLock, type LockAnswer, lockAsync, lockNow, type LockRequest } from "./file-lock.ts";

/** Locks by path and byte. Shared locks do not queue. */
export class AsyncLocks {
  /** The last place in the queue of each lock that this process holds or waits for; resolves when that call leaves. */
  readonly #last = new Map<string, Promise<void>>();

  /** Takes a lock without waiting; undefined if another call or process holds it. */
  tryTake(request: LockRequest): LockAnswer | undefined {
    const name = nameOf(request);
    if (!request.shared && this.#last.has(name)) return undefined;
    const answer = lockNow(request);
    if (answer.errno === ETIMEDOUT) return undefined;
    if (answer.lock === undefined || request.shared) return answer;
    const turn = Promise.withResolvers<void>();
    this.#last.set(name, turn.promise);
    return { errno: 0, lock: withRelease(answer.lock, () => this.#leave(name, turn.promise, turn.resolve)) };
  }

  #leave(name: string, last: Promise<void>, resolve: () => void): void {
    resolve();
    if (this.#last.get(name) === last) this.#last.delete(name);
  }

  /** As `lockAsync`; the deadline includes the wait for calls of this process. */
  async take(request: LockRequest, signal?: AbortSignal): Promise<LockAnswer> {
    if (request.shared) return lockAsync(request, signal);
    const started = monotonicMs();
    const name = nameOf(request);
    const before = this.#last.get(name);
    const turn = Promise.withResolvers<void>();
    const last = before === undefined ? turn.promise : before.then(() => turn.promise);
    this.#last.set(name, last);
    const leave = (): void => this.#leave(name, last, turn.resolve);
    try {
      if (before !== undefined && !(await endsWithin(before, request.deadlineMs, signal))) {
        leave();
        return { errno: ETIMEDOUT };
      }
      const left = Math.max(0, request.deadlineMs - (monotonicMs() - started));
      const answer = await lockAsync({ ...request, deadlineMs: left }, signal);
      if (answer.lock === undefined) leave();
      return answer.lock === undefined ? answer : { errno: 0, lock: withRelease(answer.lock, leave) };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

function nameOf({ path, byte }: LockRequest): string {
  return `${path}:${byte ?? ""}`;
}

/** The same lock; its release also ends the call's place in the queue. */
function withRelease(lock: FileLock, leave: () => void): FileLock {
  return {
    path: lock.path,
    release() {
      lock.release();
      leave();
    },
  };
}

/** Whether `wait` ended within the time. Rejects if `signal` aborts. */
async function endsWithin(wait: Promise<void>, milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  const abort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  void wait.then(() => resolve(true));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

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
