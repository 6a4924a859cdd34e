// One lease on disk: a file named after the address whose content names the owner, as native host-local writes it.

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { shortHash } from "../files/short-hash.ts";
import { endAt, type Spares } from "../files/spares.ts";
import type { LeaseDirectory } from "./directory.ts";
import { hasCode } from "./store-fault.ts";

/** Who holds an address. */
export interface Owner {
  readonly containerId: string;
  readonly ifname: string;
}

/** What a file's content says about its owner. `legacy` was written by a host-local before 0.7: the container alone. */
export type Holding = "owner" | "legacy" | "other";

const LINE_BREAK = "\r\n";

/** A file is written under such a name before it is linked in: no address, so native host-local passes it over. */
const STAGED = ".plexus-";

/** Longer content isn't a lease's: a file that someone else put there. */
const MAX_CONTENT = 4096;

// Private until it is linked; then as native host-local 1.4 and later create it.
const FILE_MODE = 0o600;
const READ_ONLY_PLAIN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READ_WRITE_PLAIN = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE_PLAIN = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** The content of an owner's lease. */
export function contentOf(owner: Owner): string {
  return owner.containerId.trim() + LINE_BREAK + owner.ifname;
}

/** Says whose a lease with some content is, seen from `owner`. */
export function holdingOf(owner: Owner): (content: string) => Holding {
  const full = contentOf(owner);
  const legacy = owner.containerId.trim();
  return (content) => {
    const text = content.trim();
    if (text === full) return "owner";
    return text === legacy ? "legacy" : "other";
  };
}

/** Filled and read on the spot; one for all, because a new one for each call is the collector's work. */
const buffer = Buffer.allocUnsafeSlow(MAX_CONTENT + 1);

/** Reads leases one after the other. */
export class LeaseReader {
  /**
   * The file's content. Undefined: there is no lease here (gone, a symbolic link, a directory, too long). Throws
   * where the file can't be read.
   */
  read(path: string): string | undefined {
    let descriptor: number;
    try {
      descriptor = openSync(path, READ_ONLY_PLAIN);
    } catch (error) {
      if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP") || hasCode(error, "ENXIO")) return undefined;
      throw error;
    }
    try {
      const length = readSync(descriptor, buffer, 0, buffer.length, null);
      return length > MAX_CONTENT ? undefined : buffer.toString("utf8", 0, length);
    } catch (error) {
      if (hasCode(error, "EISDIR")) return undefined;
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }
}

/**
 * A lease that is written in full before anyone can see it. `link` gives it an address, atomically; a process killed
 * at any point leaves either no lease or a whole one, and at most a staged file that the owner's next call replaces.
 */
export class StagedLease {
  readonly #directory: LeaseDirectory;
  readonly #file: string;

  constructor(directory: LeaseDirectory, owner: Owner, spares?: Spares) {
    this.#directory = directory;
    this.#file = stagedName(directory, owner);
    writeNew(this.#file, contentOf(owner), spares);
  }

  /** Takes the address of this name. False: it is taken. */
  link(name: string): boolean {
    try {
      linkSync(this.#file, `${this.#directory.path}/${name}`);
      return true;
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    }
  }

  /** Removes the staged name, which is there unless somebody else took it away; linked leases stay. */
  discard(): void {
    try {
      unlinkSync(this.#file);
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
  }
}

/** The file that says which address was reserved last: opened once to be read and then written. */
export class Position {
  readonly #path: string;
  #descriptor: number | undefined;
  #length = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** What it says. Undefined: there is none that can be read; the round then begins anew, as native host-local does it. */
  read(): string | undefined {
    try {
      this.#descriptor = openSync(this.#path, READ_WRITE_PLAIN);
      this.#length = readSync(this.#descriptor, buffer, 0, buffer.length, 0);
      return this.#length > MAX_CONTENT ? undefined : buffer.toString("utf8", 0, this.#length);
    } catch {
      return undefined;
    }
  }

  /** Notes an address. Throws where that can't be done. */
  write(address: string): void {
    if (this.#descriptor === undefined) overwrite(this.#path, address);
    else if (writeSync(this.#descriptor, address, 0) < this.#length) ftruncateSync(this.#descriptor, address.length);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/**
 * Writes `content` over the file's own, in place: a file system like ext4 waits for its disk when a file is emptied
 * or replaced, and a position may be wrong after a kill (it is only where to look first). What isn't a plain file,
 * such as a symbolic link, is replaced by one.
 */
function overwrite(path: string, content: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, WRITE_PLAIN, FILE_MODE);
  } catch (error) {
    if (!hasCode(error, "ELOOP") && !hasCode(error, "ENXIO")) throw error;
    unlinkSync(path);
    descriptor = openSync(path, WRITE_PLAIN, FILE_MODE);
  }
  try {
    const length = writeSync(descriptor, content, 0);
    if (fstatSync(descriptor).size > length) ftruncateSync(descriptor, length);
  } finally {
    closeSync(descriptor);
  }
}

/** Removes what a killed call of this owner may have left staged. Best effort: it is no lease. */
export function discardStaged(directory: LeaseDirectory, owner: Owner): void {
  try {
    removeIfThere(stagedName(directory, owner));
  } catch {
    // E.g. a read-only file system, where nothing was left either.
  }
}

/** Removes all that killed calls on this network may have left staged. Best effort. */
export function discardAllStaged(directory: LeaseDirectory): void {
  try {
    for (const name of readdirSync(directory.path)) if (name.startsWith(STAGED)) removeIfThere(`${directory.path}/${name}`);
  } catch {
    // Nothing staged, or nothing that can be removed.
  }
}

/** Removes a file; it is kept among `spares` where they have use for it. False: it wasn't there. */
export function removeIfThere(path: string, spares?: Spares): boolean {
  try {
    // Looked for first: a thrown ENOENT costs more.
    const kept = spares?.keep(path) ?? (lstatSync(path, { throwIfNoEntry: false }) === undefined ? "nothing" : "there");
    if (kept !== "there") return kept === "kept";
    unlinkSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** One name for each owner, so that what a killed call left is found and replaced. Used under the lock: a clash does no harm. */
function stagedName(directory: LeaseDirectory, owner: Owner): string {
  return `${directory.path}/${STAGED}${shortHash(contentOf(owner))}`;
}

function writeNew(path: string, content: string, spares: Spares | undefined): void {
  // A file left by a killed call may be linked as a lease already: it must not be written into, only unlinked.
  const spare = spares?.take(path);
  const descriptor = spare?.file ?? openAfresh(path);
  try {
    const bytes = Buffer.from(content);
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
    if (spare !== undefined) endAt(spare, bytes.length);
  } catch (error) {
    removeIfThere(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function openAfresh(path: string): number {
  try {
    return openSync(path, CREATE_NEW, FILE_MODE);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    unlinkSync(path);
    return openSync(path, CREATE_NEW, FILE_MODE);
  }
}
