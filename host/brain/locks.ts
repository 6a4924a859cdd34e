// Locks across brains: a container's calls one after the other, GC alone (CNI section 3, L-46). All are bytes of one file of the state
// directory, which stays: a call makes and removes nothing for its locks.

import { getSystemErrorName } from "node:util";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { JournalKey } from "../journal/entry-file.ts";
import type { Hands } from "../hands/hands.ts";
import { ETIMEDOUT } from "../locks/file-lock.ts";
import type { BrainDeps } from "./answer.ts";
import type { CallLocks, Release } from "./call-context.ts";
import { lockByte } from "./lock-byte.ts";

interface Wanted {
  readonly byte: number;
  readonly shared: boolean;
  /** For messages. */
  readonly of: string;
}

/** Shared by the calls of all containers; GC has it alone. */
const everything = 0;

/** The file of locks. */
export function locksPath(stateDirectory: string): string {
  return `${stateDirectory}/calls.lock`;
}

/** The byte that is one container's lock. */
export function containerByte({ containerId, network, ifname }: JournalKey): number {
  return lockByte(`${containerId}@${network}@${ifname}`);
}

/** Locks of a state directory; a call waits for each for at most `patience` milliseconds. */
export function callLocks(
  { hands, takeLock }: Pick<BrainDeps, "takeLock"> & { readonly hands: Pick<Hands, "ensureThere"> },
  stateDirectory: string,
  patience: () => number,
): CallLocks {
  const path = locksPath(stateDirectory);

  async function take({ byte, shared, of }: Wanted): Promise<Result<Release>> {
    const deadlineMs = patience();
    const { errno, lock } = await takeLock({ path, byte, deadlineMs, shared, makesDirectory: true });
    if (errno === ETIMEDOUT) {
      const why = `another call held the lock of ${of} (byte ${byte} of ${path}) for more than ${deadlineMs} ms`;
      return failed(fault("CALL_BUSY", why));
    }
    if (lock === undefined) return failed(fault("STORE_FAILED", `locking ${path}: ${getSystemErrorName(-errno)}`));
    return ok(() => lock.release());
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
        { byte: everything, shared: true, of: "all containers" },
        { byte: containerByte(key), shared: false, of: `container ${key.containerId}, ${key.ifname}` },
      ]),
    everything: () => takeAll([{ byte: everything, shared: false, of: "all containers" }]),
  };
}
