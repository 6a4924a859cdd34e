// Locks across one-shot brains, taken by the hands: a container's calls one after the other, GC alone (CNI section 3, L-46).

import { mkdirSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { storeFault } from "../files/durable-file.ts";
import { shortHash } from "../files/short-hash.ts";
import type { Hands, HeldLock } from "../hands/hands.ts";
import type { JournalKey } from "../journal/entry-file.ts";
import type { CallLocks } from "./call-context.ts";

const ENOENT = 2;
const ETIMEDOUT = 110;

/** Far more than there are callers for one container. */
const mostAttempts = 1000;

/** Longest name of a directory; a longer one's hash stands for it, where a clash only makes two calls take turns. */
const longestName = 255;

/** A container's lock goes with its directory; nobody else's name has an `@`. */
const everything = "gc";
const statusLock = "status";

/** Locks of a state directory; a call waits for at most `deadlineMs`. */
export function handsLocks(hands: Hands, stateDirectory: string, deadlineMs: number): CallLocks {
  const root = join(stateDirectory, "locks");
  const take = (name: string, shared: boolean): Promise<Result<HeldLock>> =>
    takeLock(hands, join(root, name), shared, deadlineMs);
  return {
    async container(key) {
      const shared = await take(everything, true);
      if (!shared.ok) return shared;
      const name = nameOf(key);
      const own = await take(name, false);
      if (!own.ok) {
        await hands.unlock(shared.value);
        return own;
      }
      return ok(async () => {
        removeDirectory(join(root, name));
        await hands.unlock(own.value);
        await hands.unlock(shared.value);
      });
    },
    async status() {
      const alone = await take(statusLock, false);
      if (!alone.ok) return alone;
      return ok(async () => {
        removeDirectory(join(root, statusLock));
        await hands.unlock(alone.value);
      });
    },
    async everything() {
      const alone = await take(everything, false);
      if (!alone.ok) return alone;
      removeAbandoned(root);
      return ok(() => hands.unlock(alone.value));
    },
  };
}

async function takeLock(hands: Hands, directory: string, shared: boolean, deadlineMs: number): Promise<Result<HeldLock>> {
  const path = join(directory, "lock");
  // The holder before us removes the directory with its lock; who waited then begins again.
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      return failed(storeFault("making", directory, error));
    }
    const { errno, lock } = await hands.lock({ path, deadlineMs, shared });
    if (lock !== undefined) return ok(lock);
    if (errno === ENOENT) continue;
    if (errno !== ETIMEDOUT) return failed(fault("STORE_FAILED", `locking ${path}: errno ${errno}`));
    return failed(fault("CALL_BUSY", `another call held ${path} for more than ${deadlineMs} ms`));
  }
  return failed(fault("STORE_FAILED", `locking ${path}: the hands do not see the directory that was made for it`));
}

function nameOf(key: JournalKey): string {
  const name = `${key.containerId}@${key.network}@${key.ifname}`;
  return Buffer.byteLength(name) <= longestName ? name : `long@${shortHash(name)}`;
}

/** Locks of containers whose calls were killed and never repeated: whoever uses one holds GC's lock too, so nobody does now. */
function removeAbandoned(root: string): void {
  try {
    for (const name of readdirSync(root)) if (name !== everything && name !== statusLock) removeDirectory(join(root, name));
  } catch {
    // The next GC tries again.
  }
}

/** Not needed for correctness, only so that nothing is left of a container: failing is fine. */
function removeDirectory(directory: string): void {
  try {
    unlinkSync(join(directory, "lock"));
    rmdirSync(directory);
  } catch {
    // Somebody else is about to use it.
  }
}
