// File locks in a brain that serves many calls at once: those of its own calls wait for each other in order, in memory; only the first
// of them contends with other processes for the file.

import { ETIMEDOUT, type FileLock, type LockAnswer, lockAsync, lockSync, type LockRequest } from "../locks/file-lock.ts";

/** Locks by path and byte. Shared ones don't wait for each other. */
export class AsyncLocks {
  /** The end of the queue of each lock that anybody holds or waits for. */
  readonly #last = new Map<string, Promise<void>>();

  /** Takes a lock that nobody is in the way of; undefined: somebody is. */
  takeNow(request: LockRequest): LockAnswer | undefined {
    const name = nameOf(request);
    if (!request.shared && this.#last.has(name)) return undefined;
    const answer = lockSync({ ...request, deadlineMs: 0 });
    if (answer.errno === ETIMEDOUT) return undefined;
    if (answer.lock === undefined || request.shared) return answer;
    const turn = Promise.withResolvers<void>();
    this.#last.set(name, turn.promise);
    return { errno: 0, lock: leaving(answer.lock, () => this.#leave(name, turn.promise, turn.resolve)) };
  }

  #leave(name: string, last: Promise<void>, resolve: () => void): void {
    resolve();
    if (this.#last.get(name) === last) this.#last.delete(name);
  }

  /** As `lockAsync`; the deadline counts the wait for calls of this process too. */
  async take(request: LockRequest, signal?: AbortSignal): Promise<LockAnswer> {
    if (request.shared) return lockAsync(request, signal);
    const started = performance.now();
    const name = nameOf(request);
    const before = this.#last.get(name);
    const turn = Promise.withResolvers<void>();
    const last = before === undefined ? turn.promise : before.then(() => turn.promise);
    this.#last.set(name, last);
    const leave = (): void => this.#leave(name, last, turn.resolve);
    try {
      if (before !== undefined && !(await within(before, request.deadlineMs, signal))) {
        leave();
        return { errno: ETIMEDOUT };
      }
      const left = Math.max(0, request.deadlineMs - (performance.now() - started));
      const answer = await lockAsync({ ...request, deadlineMs: left }, signal);
      if (answer.lock === undefined) leave();
      return answer.lock === undefined ? answer : { errno: 0, lock: leaving(answer.lock, leave) };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

function nameOf({ path, byte }: LockRequest): string {
  return `${path}:${byte ?? ""}`;
}

function leaving(lock: FileLock, leave: () => void): FileLock {
  return {
    path: lock.path,
    release() {
      lock.release();
      leave();
    },
  };
}

/** Whether it came to its end in time. */
async function within(wait: Promise<void>, milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
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
