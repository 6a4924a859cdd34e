// Locks for tests whose code under test runs synchronously.

import { ETIMEDOUT } from "../../../system/errno.ts";
import { monotonicMs } from "../../../system/clock.ts";
import { type LockAnswer, lockNow, type LockRequest } from "../file-lock.ts";

const pauseMs = 1;

/** As `lockAsync`, but blocks this thread while it waits. `beforeTry` is called before each try. */
export function lockSync(request: LockRequest, beforeTry: () => void = () => {}): LockAnswer {
  const due = monotonicMs() + request.deadlineMs;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    beforeTry();
    const answer = lockNow(request);
    if (answer.errno !== ETIMEDOUT || monotonicMs() >= due) return answer;
    Atomics.wait(sleeper, 0, 0, pauseMs);
  }
}
