// The node's directory for pools of the cluster, `pools` in cniDir:
//
//     .daemon              the lock of the daemon that uses the directory
//     .holder              the identity of this directory: only blocks of this holder are used
//     .claimed             the names of the blocks that this holder has claimed, or may have claimed
//     .leaving-UID         the name of a block whose deletion was or will be sent
//     POOL.json            the AddressPool as it was last seen, for CHECK without the API
//     POOL/ADDRESS         leases, as in a directory of host-local, with the network in a third line

import { readdirSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { readAddress } from "../../../src/net/ip.ts";
import { type AddressSpan, hasAddress } from "../rules/spans.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { removeFile, storeFault, writeDurably, writeWhole } from "../../../host/store/files/durable-file.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";
import { type FileLock, lockNow } from "../../../host/store/locks/file-lock.ts";
import { ETIMEDOUT } from "../../../host/system/errno.ts";
import { systemError } from "../../../host/system/system-error.ts";
import { hasCode } from "../../../host/capabilities/leases/store-fault.ts";

const leavingPrefix = ".leaving-";
/** The last line of the names of claimed blocks, which a file that was cut lacks. No block has this name. */
const lastLine = ".";
/** The form of a UID of the API, which becomes a file's name. */
const uidPattern = /^[-0-9a-zA-Z]{1,64}$/;
const holderPattern = /^[-0-9a-f]{36}$/;
/** The API's objects have 1.5 MiB at most. */
const rules = { maxBytes: 4 * 1024 * 1024, foreign: false } as const;

/** The files. Faults: STORE_FAILED. */
export class PoolDirectory {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /**
   * Takes the directory for one daemon's pools until the release, or until the process ends: two daemons would not know of each other's blocks that are given
   * back, nor of reservations whose leases are not written yet. Faults: POOL_UNAVAILABLE if another daemon has it, STORE_FAILED.
   */
  take(): Result<FileLock> {
    const path = `${this.root}/.daemon`;
    const { errno, lock } = lockNow({ path, deadlineMs: 0, shared: false, makesDirectory: true });
    if (lock !== undefined) return ok(lock);
    if (errno !== ETIMEDOUT) return failed(fault("STORE_FAILED", `locking ${path}: ${systemError(errno)}`));
    return failed(
      fault("POOL_UNAVAILABLE", `another plexusd still uses the pools in ${this.root}; this one does when that one has ended`),
    );
  }

  /** The identity of this directory, made at the first use. A directory that is lost or replaced has another one. */
  holder(): Result<string> {
    const path = `${this.root}/.holder`;
    const known = readText(path);
    // With another identity the node would lose its blocks.
    if (!known.ok) return known;
    const text = known.value?.trim() ?? "";
    if (holderPattern.test(text)) return ok(text);
    const made = randomUUID();
    const written = writeDurably(path, `${made}\n`);
    if (!written.ok) return written;
    // A new holder has claimed nothing.
    this.keepClaimedNames([]);
    return ok(made);
  }

  /** The names of blocks that this holder has claimed, or may have claimed; undefined if they are unknown. */
  claimedNames(): readonly string[] | undefined {
    const lines = textIn(`${this.root}/.claimed`)?.split("\n");
    return lines?.at(-1) === lastLine ? lines.slice(0, -1) : undefined;
  }

  /** Keeps the names, without fsync. */
  keepClaimedNames(names: readonly string[]): Result<void> {
    return writeWhole(`${this.root}/.claimed`, [...names, lastLine].join("\n"));
  }

  /** The pools of which the node has leases, or had some. */
  pools(): readonly string[] {
    const names = namesIn(this.root).filter((name) => !name.startsWith("."));
    return [...new Set(names.map((name) => (name.endsWith(".json") ? name.slice(0, -".json".length) : name)))];
  }

  /**
   * The blocks that this daemon or an earlier one gave back, and whose deletion the API has not confirmed: names by UID. A block has the name "" if its file has
   * lost its content.
   */
  leaving(): ReadonlyMap<string, string> {
    const names = namesIn(this.root).filter((name) => name.startsWith(leavingPrefix));
    return new Map(names.map((name) => [name.slice(leavingPrefix.length), textIn(`${this.root}/${name}`)?.trim() ?? ""]));
  }

  /** Notes, before the deletion is sent, that a block is given back. */
  noteLeaving(uid: string, name: string): Result<void> {
    return uidPattern.test(uid) ? writeDurably(`${this.root}/${leavingPrefix}${uid}`, name) : ok(undefined);
  }

  /** Forgets a block whose deletion is confirmed. */
  noteGone(uid: string): Result<void> {
    return uidPattern.test(uid) ? removeFile(`${this.root}/${leavingPrefix}${uid}`) : ok(undefined);
  }

  /** The pool's object as it was last seen, as JSON; undefined if it was never seen. */
  poolText(pool: string): string | undefined {
    return textIn(`${this.root}/${pool}.json`);
  }

  /** Keeps the pool's object. */
  keepPool(pool: string, text: string): Result<void> {
    return this.poolText(pool) === text ? ok(undefined) : writeWhole(`${this.root}/${pool}.json`, text);
  }

  /** The container in the lease of an address; undefined without a lease. Fault STORE_FAILED: an unreadable lease may be a running pod's. */
  containerOf(pool: string, address: string): Result<string | undefined> {
    const lease = readText(`${this.root}/${pool}/${address}`);
    return lease.ok ? ok(lease.value?.split("\n", 1)[0]?.trim()) : lease;
  }

  /** The number of leases of a pool in each of the spans. */
  leasesIn(pool: string, spans: readonly AddressSpan[]): readonly number[] {
    const counts = spans.map(() => 0);
    for (const name of namesIn(`${this.root}/${pool}`)) {
      const address = readAddress(name);
      if (address === undefined) continue;
      for (const [index, span] of spans.entries()) if (hasAddress([span], address)) counts[index] = (counts[index] ?? 0) + 1;
    }
    return counts;
  }
}

/** The names in a directory; empty if it does not exist. Throws any other error of the system: an unreadable directory may have leases. */
function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** A file's text; undefined if it does not exist. Fault STORE_FAILED. */
function readText(path: string): Result<string | undefined> {
  try {
    return ok(readRegularFile(path, rules));
  } catch (error) {
    return hasCode(error, "ENOENT") ? ok(undefined) : failed(storeFault("reading", path, error));
  }
}

/** The text of a file whose loss costs nothing; undefined if it cannot be read. */
function textIn(path: string): string | undefined {
  const text = readText(path);
  return text.ok ? text.value : undefined;
}
