// Leases on disk, in the format of native host-local: a directory for each network, and a file for each lease. The file's name is the address, and its content names
// the owner. Paths beneath the administrator's directory are walked without following symbolic links.

import { closeSync, constants, lstatSync, openSync, readSync, readdirSync, unlinkSync, writeSync } from "node:fs";
import type { Result } from "../../../src/fault/result.ts";
import { clearPlace } from "../../store/files/durable-file.ts";
import type { RecycledFiles } from "../../store/files/recycled-files.ts";
import { openMade, orAskRoot } from "../../store/files/shared-with-root.ts";
import { shortHash } from "../../system/ids.ts";
import { walkDirectories } from "../../store/files/walk-directories.ts";
import { EEXIST, EINVAL, ENOSYS } from "../../system/errno.ts";
import { renameIfFree } from "../../system/libc/libc.ts";
import { hasCode, systemCallError, fromException, storeUnsafe } from "./store-fault.ts";

/** The owner of a lease: an attachment. */
export interface Owner {
  readonly containerId: string;
  readonly ifname: string;
  /** The network, in a directory that several networks share: that of a pool. A GC of one network frees no lease of another. */
  readonly network?: string | undefined;
}

/** Whether a lease is the owner's. `legacy`: its content is of host-local before 0.7, and names only the container. */
export type Holding = "owner" | "legacy" | "other";

const LINE_BREAK = "\r\n";

/** The prefix of a staged file's name. Native host-local ignores such a file, because its name is not an address. */
const STAGED = ".plexus-";

/** Maximum bytes of a lease. A longer file belongs to another program. */
const MAX_CONTENT = 4096;

/** The mode of a lease, as in native host-local 1.4 and later. */
const FILE_MODE = 0o600;
const READ_ONLY_PLAIN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** The content of an owner's lease. */
export function contentOf(owner: Owner): string {
  const content = owner.containerId.trim() + LINE_BREAK + owner.ifname;
  return owner.network === undefined ? content : content + LINE_BREAK + owner.network;
}

/** The network in the content of a lease in a pool's directory; undefined if the lease names none. */
export function networkOfLease(content: string): string | undefined {
  return content.trim().split(LINE_BREAK)[2];
}

/** Whether a lease's content names no owner. A power loss may leave a file empty, or with zeros in the place of its content. */
export function isOwnerless(content: string): boolean {
  return /^[\0\s]*$/u.test(content);
}

/** A function that decides by a lease's content whether the lease is `owner`'s. */
export function holdingOf(owner: Owner): (content: string) => Holding {
  const full = contentOf(owner);
  const legacy = owner.containerId.trim();
  return (content) => {
    const text = content.trim();
    if (text === full) return "owner";
    return text === legacy ? "legacy" : "other";
  };
}

/** A buffer for all reads, which are synchronous. A new buffer for each read would cost time in garbage collection. */
const buffer = Buffer.allocUnsafeSlow(MAX_CONTENT + 1);

/** Reads leases. */
export class LeaseReader {
  /**
   * The content of the lease at `path`; undefined if there is none, or if it is a symbolic link, a directory or too long. Throws the
   * system's error if the file cannot be read.
   */
  read(path: string): string | undefined {
    let descriptor: number;
    try {
      descriptor = orAskRoot(path, () => openSync(path, READ_ONLY_PLAIN));
    } catch (error) {
      if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP") || hasCode(error, "ENXIO")) return undefined;
      throw error;
    }
    try {
      const length = readSync(descriptor, buffer, 0, buffer.length, null);
      return length > MAX_CONTENT ? undefined : buffer.toString("utf8", 0, length);
    } catch (error) {
      // EAGAIN: a pipe that another process writes.
      if (hasCode(error, "EISDIR") || hasCode(error, "EAGAIN")) return undefined;
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }
}

/**
 * A lease that is written completely under a staged name, before `reserve` renames it atomically. A process that is killed at any point leaves no lease or a
 * complete one, and at most a staged file, which the owner's next call replaces. There is never a second name (a hard link): a daemon can make none.
 */
export class StagedLease {
  readonly #directory: LeaseDirectory;
  readonly #content: string;
  readonly #file: string;
  #isStaged = true;

  constructor(directory: LeaseDirectory, owner: Owner, recycledFiles?: RecycledFiles) {
    this.#directory = directory;
    this.#content = contentOf(owner);
    this.#file = stagedName(directory, owner);
    writeNew(this.#file, this.#content, recycledFiles);
  }

  /** Reserves the address `name`, once. False: another lease has it. Throws the system's error. */
  reserve(name: string): boolean {
    const path = `${this.#directory.path}/${name}`;
    const errno = renameIfFree(this.#file, path);
    if (errno === EINVAL || errno === ENOSYS) return createExclusively(path, this.#content);
    if (errno === EEXIST) return false;
    if (errno !== 0) throw systemCallError("rename", path, errno);
    this.#isStaged = false;
    return true;
  }

  /** Removes the staged file, if it still exists. A reserved lease stays. */
  discard(): void {
    if (!this.#isStaged) return;
    try {
      unlinkSync(this.#file);
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
  }
}

/** Creates the lease as native host-local does, for file systems without RENAME_NOREPLACE. A kill may leave a lease without an owner. */
function createExclusively(path: string, content: string): boolean {
  let descriptor: number;
  try {
    descriptor = openMade(path, CREATE_NEW, FILE_MODE);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
  try {
    writeSync(descriptor, content);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

/** Removes the staged file of a killed call of this owner. Best effort, because a staged file is not a lease. */
export function discardStaged(directory: LeaseDirectory, owner: Owner): void {
  try {
    removeIfPresent(stagedName(directory, owner));
  } catch {
    // For example a read-only file system, which has no staged files.
  }
}

/** Removes the staged files of all killed calls on this network. Best effort. */
export function discardAllStaged(directory: LeaseDirectory): void {
  try {
    for (const name of readdirSync(directory.path)) if (name.startsWith(STAGED)) removeIfPresent(`${directory.path}/${name}`);
  } catch {
    // The directory is missing or read-only.
  }
}

/** Removes a file, or moves it to the recycled files if they accept it. False: there is no such file. Throws the system's error. */
export function removeIfPresent(path: string, recycledFiles?: RecycledFiles): boolean {
  try {
    // `lstat` comes first, because a thrown ENOENT costs more.
    const kept = recycledFiles?.keep(path) ?? (lstatSync(path, { throwIfNoEntry: false }) === undefined ? "missing" : "not-kept");
    if (kept !== "not-kept") return kept === "kept";
    orAskRoot(path, () => unlinkSync(path));
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** The staged file's name. Each owner has one, so that the next call replaces the file of a killed call. The lock makes clashes harmless. */
function stagedName(directory: LeaseDirectory, owner: Owner): string {
  return `${directory.path}/${STAGED}${shortHash(contentOf(owner))}`;
}

function writeNew(path: string, content: string, recycledFiles: RecycledFiles | undefined): void {
  // The staged file of an earlier release's killed call may be linked as a lease already, so it is replaced or unlinked, never overwritten.
  const recycledFile = recycledFiles?.take(path);
  const descriptor = recycledFile?.file ?? createFile(path);
  try {
    const bytes = Buffer.from(content);
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
    recycledFile?.endAt(bytes.length);
  } catch (error) {
    removeIfPresent(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function createFile(path: string): number {
  try {
    return openMade(path, CREATE_NEW, FILE_MODE);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    clearPlace(path);
    return openMade(path, CREATE_NEW, FILE_MODE);
  }
}

const MODE = 0o755;
const faults = { unsafe: storeUnsafe, failed: fromException };

/** The paths of one network's leases. */
export interface LeaseDirectory {
  /** The administrator's directory. It is trusted, so it may be or contain a symbolic link. */
  readonly root: string;
  /** The network's directory, with a file for each lease, named after its address. */
  readonly path: string;
  /** The lock file, which native host-local locks, too. */
  readonly lock: string;
}

/** The lease directory of `network` in `dataDir`. `dataDir` equals `root` or is beneath it. `network` is a valid CNI network name. */
export function leaseDirectory(root: string, dataDir: string, network: string): LeaseDirectory {
  const path = `${dataDir === "/" ? "" : dataDir}/${network}`;
  return { root, path, lock: `${path}/lock` };
}

/** Whether the network's directory exists. Fault: STORE_UNSAFE if it is not a plain directory. */
export function directoryExists(directory: LeaseDirectory): Result<boolean> {
  return walkDirectories(directory.root, directory.path, undefined, faults);
}

/** Makes the network's directory if it is missing, as native host-local does. Faults: STORE_UNSAFE, STORE_FAILED. */
export function makeLeaseDirectory(directory: LeaseDirectory): Result<boolean> {
  return walkDirectories(directory.root, directory.path, MODE, faults);
}
