// Locks across brains: a container's calls one after the other, GC alone (CNI section 3, L-46).

import { readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { getSystemErrorName } from "node:util";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { shortHash } from "../files/short-hash.ts";
import type { JournalKey } from "../journal/entry-file.ts";
import { ETIMEDOUT } from "../locks/file-lock.ts";
import type { BrainDeps } from "./answer.ts";
import type { CallLocks, Release } from "./call-context.ts";

/** Longest name of a directory; a longer one's hash stands for it, where a clash only makes two calls take turns. */
const longestName = 255;

/** A container's lock goes with its directory; nobody else's name has an `@`. */
const everything = "gc";

interface Wanted {
  readonly name: string;
  readonly shared: boolean;
  /** Whether its directory goes when it is given back. */
  readonly passing: boolean;
}

/** Locks of a state directory; a call waits for at most `deadlineMs`. */
export function callLocks(
  { hands, takeLock }: Pick<BrainDeps, "hands" | "takeLock">,
  stateDirectory: string,
  deadlineMs: number,
): CallLocks {
  const root = join(stateDirectory, "locks");

  async function take({ name, shared, passing }: Wanted): Promise<Result<Release>> {
    const directory = join(root, name);
    const path = join(directory, "lock");
    const { errno, lock } = await takeLock({ path, deadlineMs, shared, makesDirectory: true });
    if (errno === ETIMEDOUT) return failed(fault("CALL_BUSY", `another call held ${path} for more than ${deadlineMs} ms`));
    if (lock === undefined) return failed(fault("STORE_FAILED", `locking ${path}: ${getSystemErrorName(-errno)}`));
    return ok(() => {
      if (passing) removeDirectory(directory);
      lock.release();
    });
  }

  /** Takes them in this order, all or none. */
  async function takeAll(wanted: readonly Wanted[]): Promise<Result<Release>> {
    const held: Release[] = [];
    const release = (): void => held.toReversed().forEach((each) => each());
    let whole = false;
    try {
      for (const each of wanted) {
        const taken = await take(each);
        if (!taken.ok) return taken;
        held.push(taken.value);
      }
      // Who comes later waits for us from here on, and finds what we begin. But a DEL that came meanwhile may be over.
      hands.ensureThere();
      whole = true;
      return ok(release);
    } finally {
      if (!whole) release();
    }
  }

  return {
    container: (key) =>
      takeAll([
        { name: everything, shared: true, passing: false },
        { name: nameOf(key), shared: false, passing: true },
      ]),
    async everything() {
      const alone = await takeAll([{ name: everything, shared: false, passing: false }]);
      if (alone.ok) removeAbandoned(root);
      return alone;
    },
  };
}

function nameOf(key: JournalKey): string {
  const name = `${key.containerId}@${key.network}@${key.ifname}`;
  return Buffer.byteLength(name) <= longestName ? name : `long@${shortHash(name)}`;
}

/** Locks of containers whose calls were killed and never repeated: whoever uses one holds GC's lock too, so nobody does now. */
function removeAbandoned(root: string): void {
  try {
    for (const name of readdirSync(root)) if (name !== everything) removeDirectory(join(root, name));
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
