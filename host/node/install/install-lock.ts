// One installation at a time: a new pod's installer may start while another one runs.

import { closeSync, openSync } from "node:fs";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { EWOULDBLOCK } from "../../system/errno.ts";
import { tryFlock } from "../../system/libc/libc.ts";
import { monotonicMs } from "../../system/clock.ts";

const timeoutMs = 120_000;
const pauseMs = 50;

/**
 * Locks the directory of plugins itself, so that no lock file stays in it. Answers the function that releases the lock. A file system without
 * flock(2) gives no lock. Faults INSTALL_REFUSED, STORE_FAILED.
 */
export function lockInstallation(cniBin: string): Result<() => void> {
  let directory: number;
  try {
    directory = openSync(cniBin, "r");
  } catch (error) {
    return failed(storeFault("opening", cniBin, error));
  }
  const due = monotonicMs() + timeoutMs;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (tryFlock(directory, false) === EWOULDBLOCK) {
    if (monotonicMs() > due) {
      closeSync(directory);
      return failed(fault("INSTALL_REFUSED", `another installation into ${cniBin} runs for more than ${timeoutMs / 1000} s`));
    }
    Atomics.wait(sleeper, 0, 0, pauseMs);
  }
  return ok(() => closeSync(directory));
}
