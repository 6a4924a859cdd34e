// Locks across engine processes: the calls of a container run one after the other, and GC runs alone (CNI section 3, L-46). Each lock
// is a byte of one file in the state directory. That file stays, so a call need not create or remove files for its locks.

import { fault } from "../../../src/fault/fault.ts";
import { type Result, failed, ok } from "../../../src/fault/result.ts";
import type { ShimPresence } from "../../protocol/shim.ts";
import type { JournalKey } from "../../store/journal/entry-file.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import { ETIMEDOUT } from "../../system/errno.ts";
import { systemError } from "../../system/system-error.ts";

/** Releases a lock. */
export type Release = () => void;

/** Locks that exclude other processes (CNI 1.1.0 section 3: never two operations for one container at a time, and GC alone). */
export interface CallLocks {
  /** For ADD, DEL and CHECK: excludes other calls for this attachment, and GC. Faults: CALL_BUSY, STORE_FAILED. */
  readonly container: (key: JournalKey) => Promise<Result<Release>>;
  /** For GC: excludes every other call of this state directory. Faults: CALL_BUSY, STORE_FAILED. */
  readonly everything: () => Promise<Result<Release>>;
}

interface ByteLock {
  readonly byte: number;
  readonly shared: boolean;
  /** The calls that the lock is for, as an error names them. */
  readonly label: string;
}

/** The byte of the lock for the whole state directory: the calls of containers share it, GC takes it exclusively. */
const everything = 0;

/** The path of the lock file. */
export function locksPath(stateDirectory: string): string {
  return `${stateDirectory}/calls.lock`;
}

/** The byte that is the lock of one container's attachment. */
export function containerByte({ containerId, network, ifname }: JournalKey): number {
  return lockByte(`${containerId}@${network}@${ifname}`);
}

/** The locks of a state directory. `maxWaitMs` answers how many milliseconds a call may wait for its next lock. */
export function callLocks(
  { shim, takeLock }: { readonly takeLock: TakeLock; readonly shim: ShimPresence },
  stateDirectory: string,
  maxWaitMs: () => number,
): CallLocks {
  const path = locksPath(stateDirectory);

  async function take({ byte, shared, label }: ByteLock): Promise<Result<Release>> {
    const deadlineMs = maxWaitMs();
    const { errno, lock } = await takeLock({ path, byte, deadlineMs, shared, makesDirectory: true });
    if (errno === ETIMEDOUT) {
      const why = `another call held the lock of ${label} (byte ${byte} of ${path}) for more than ${deadlineMs} ms`;
      return failed(fault("CALL_BUSY", why));
    }
    if (lock === undefined) return failed(fault("STORE_FAILED", `locking ${path}: ${systemError(errno)}`));
    return ok(() => lock.release());
  }

  /** Takes all locks in this order, or none of them. */
  async function takeAll(locks: readonly ByteLock[]): Promise<Result<Release>> {
    const held: Release[] = [];
    const release = (): void => held.toReversed().forEach((releaseOne) => releaseOne());
    let complete = false;
    try {
      for (const lock of locks) {
        const taken = await take(lock);
        if (!taken.ok) return taken;
        held.push(taken.value);
      }
      // If the runtime gave up while this call waited, its DEL may be over already: this call must not begin then. A DEL that
      // arrives from here on waits for the locks and finds the journal entry.
      shim.ensureConnected();
      complete = true;
      return ok(release);
    } finally {
      if (!complete) release();
    }
  }

  return {
    container: (key) =>
      takeAll([
        { byte: everything, shared: true, label: "all containers" },
        { byte: containerByte(key), shared: false, label: `container ${key.containerId}, ${key.ifname}` },
      ]),
    everything: () => takeAll([{ byte: everything, shared: false, label: "all containers" }]),
  };
}

/** The first bytes of the lock file are not for names. */
const reserved = 16;

/**
 * A byte offset from 16 to 2^53 - 1: 53 bits of two multiplicative hashes that are mixed at the end. If two names have the same
 * byte, their calls run one after the other, which is harmless: the hash need not resist an attacker.
 */
export function lockByte(name: string): number {
  let [hashA, hashB] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    hashA = Math.imul(hashA ^ unit, 0x9e3779b1);
    hashB = Math.imul(hashB ^ unit, 0x5f356495);
  }
  const low = mixed(hashA, hashB);
  const high = mixed(hashB, low);
  return Math.max(reserved, (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0));
}

function mixed(hash: number, other: number): number {
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
}
