// Files that nobody needs any more, kept under hidden names for the next ones that are written in their directory.
//
// ext4 gives out no inode that was removed in the last minutes, and looks at each of those first: where pods come and go, making a file
// costs more than all that is written to it (0.13 ms after 1000 removals, docs/reference/performance.md). Files that are kept are never
// removed, so they spare both. Only a brain that stays keeps them; one that begins takes over what the last one left.

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** What a spare's name begins with: hidden, so that nobody takes it for what its directory holds. */
const prefix = ".plexus-spare-";

/** Of each directory: pods that go at once, as when a node is drained; each file is a page or two. */
const usualMost = 256;
/** Bytes; what is longer is removed, so that spares hold little. */
const longest = 16 * 1024;
const permissions = 0o600;
const openFlags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A spare that got a name, open at its beginning; what is in it is old. */
export interface Spare {
  readonly file: number;
  /** Bytes of the old content. */
  readonly size: number;
}

/** The spares of all directories that a brain writes in. None of it is a fault: whoever gets no spare makes a file. */
export class Spares {
  readonly #most: number;
  /** By the directory: names that were free when they were last heard of. Other processes may take or remove them. */
  readonly #names = new Map<string, string[]>();
  #made = 0;

  /** `most`: how many files each directory keeps. */
  constructor(most: number = usualMost) {
    this.#most = most;
  }

  /**
   * Gives a spare of the directory of `path` this name, in place of what has it now. Whoever writes to it calls `endAt` then.
   * Undefined: there is none.
   */
  take(path: string): Spare | undefined {
    const names = this.#namesIn(dirname(path));
    const name = names.pop();
    if (name === undefined) return undefined;
    try {
      // First of all its name: another process that wants the same one finds it gone.
      renameSync(join(dirname(path), name), path);
    } catch {
      // Somebody cleaned the directory, most likely of all of them.
      names.length = 0;
      return undefined;
    }
    return opened(path);
  }

  /** Keeps what lies at `path`, which then has no other name. False: it is still there, or was never. */
  keep(path: string): boolean {
    const names = this.#namesIn(dirname(path));
    if (names.length >= this.#most || lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
    const name = `${prefix}${process.pid}-${this.#made++}`;
    renameSync(path, join(dirname(path), name));
    names.push(name);
    return true;
  }

  #namesIn(directory: string): string[] {
    let names = this.#names.get(directory);
    if (names === undefined) {
      names = left(directory, this.#most);
      this.#names.set(directory, names);
    }
    return names;
  }
}

/** Cuts off what an old content had beyond the new one's length, in bytes. */
export function endAt({ file, size }: Spare, length: number): void {
  if (length < size) ftruncateSync(file, length);
}

/** Whether a name is a spare's. */
export function isSpare(name: string): boolean {
  return name.startsWith(prefix);
}

/** Undefined, and `path` is free: what was there is nothing that may be written into. */
function opened(path: string): Spare | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, openFlags);
    const stats = fstatSync(file);
    if (isOurs(stats)) return { file, size: stats.size };
  } catch {
    // A link, say.
  }
  if (file !== undefined) closeSync(file);
  unlinkSync(path);
  return undefined;
}

/** A plain file with this name only: with another one (a backup of hard links, say) its content is somebody else's, too. */
function isOurs(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1 && (stats.mode & 0o7777) === permissions && stats.size <= longest;
}

/** What a brain before this one kept; removes what is too many. */
function left(directory: string, most: number): string[] {
  try {
    const names = readdirSync(directory).filter(isSpare);
    for (const name of names.splice(most)) unlinkSync(join(directory, name));
    return names;
  } catch {
    // No such directory yet, or none that can be read: writing there says why.
    return [];
  }
}
