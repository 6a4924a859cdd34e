// Files that nobody needs any more, kept for the next ones that are written nearby.
//
// ext4 gives out no inode that was removed in the last minutes, and looks at each of those first: where pods come and go, making a file
// costs more than all that is written to it (0.13 ms after 1000 removals, docs/reference/performance.md). Files that are kept are never
// removed, so they spare both. Only a brain that stays keeps them; one that begins takes over what the last one left.
//
// What is in them stays until it is overwritten, so they lie in a directory of their own beside those that they are for: native
// host-local and libcni go by what the files of a directory say, and not by their names. After a power loss a file's old name may be
// back with the next one's content, and a file that wasn't synced may have the old content: entries and cached results that don't name
// what their file is named after aren't taken for what they say, and a lease of somebody who is gone is GC's.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { errnoOf } from "./errno.ts";

/** Beside the directories of the files that it keeps; hidden, so that nobody takes it for a network's. */
const homeName = ".plexus-spares";
/** What a spare's name begins with. */
const prefix = ".plexus-spare-";

/** Of each home: two for each of 500 pods that go at once, as when a large node is drained; each file is a page or two. */
const usualMost = 1024;
/** Bytes; what is longer is removed, so that spares hold little. */
const longest = 16 * 1024;
const permissions = 0o600;
const openFlags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const us = process.geteuid?.();

/** A spare that got a name, open at its beginning; what is in it is old. */
export interface Spare {
  readonly file: number;
  /** Bytes of the old content. */
  readonly size: number;
}

/** The spares that a brain knows of. None of it is a fault: whoever gets no spare makes a file, and what isn't kept is removed. */
export class Spares {
  readonly #most: number;
  /** Not the process's id: the next daemon of a container may well have the same. */
  readonly #tag = randomBytes(6).toString("hex");
  /** By their home: names that were free when they were last heard of. Other processes may take or remove them. */
  readonly #names = new Map<string, string[]>();
  #made = 0;

  /** `most`: how many files each home keeps. */
  constructor(most: number = usualMost) {
    this.#most = most;
  }

  /**
   * Gives a spare this name, in place of what has it now. Whoever writes to it calls `endAt` then. Undefined: there is none, or none
   * that could be had.
   */
  take(path: string): Spare | undefined {
    const home = homeOf(path);
    const names = this.#names.get(home) ?? left(home, this.#most);
    if (names === undefined) return undefined;
    this.#names.set(home, names);
    const name = names.pop();
    if (name === undefined) return undefined;
    try {
      // First of all its name: another process that wants the same one finds it gone.
      renameSync(`${home}/${name}`, path);
    } catch (error) {
      // Of another file system than the home's: the spare is still there, for others.
      if (errnoOf(error) === "EXDEV") names.push(name);
      // Taken, or cleaned away, perhaps with all others: what there is now is asked when the next one is wanted.
      else this.#names.delete(home);
      return undefined;
    }
    return opened(path);
  }

  /**
   * Keeps what lies at `path`, which then has no other name. "there": it still lies there, or that isn't known; "nothing": there was
   * nothing. Kept is only where this brain writes, too: elsewhere it would never be used.
   */
  keep(path: string): "kept" | "there" | "nothing" {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return "nothing";
      const home = homeOf(path);
      const names = this.#names.get(home);
      if (names === undefined || names.length >= this.#most || !isOurs(stats)) return "there";
      const name = `${prefix}${this.#tag}-${this.#made++}`;
      move(path, home, name);
      names.push(name);
      return "kept";
    } catch {
      // No room for its name, say: removing it may do, or says why.
      return "there";
    }
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

function homeOf(path: string): string {
  // Without node:path, which takes ten thousand instructions for it, here and in what follows.
  const directory = path.slice(0, path.lastIndexOf("/"));
  return `${directory.slice(0, directory.lastIndexOf("/"))}/${homeName}`;
}

function move(path: string, home: string, name: string): void {
  try {
    renameSync(path, `${home}/${name}`);
  } catch {
    // The first that is kept here, most likely.
    mkdirSync(home, { mode: 0o700 });
    renameSync(path, `${home}/${name}`);
  }
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
  try {
    if (file !== undefined) closeSync(file);
    unlinkSync(path);
  } catch {
    // Whoever makes a file there instead says why.
  }
  return undefined;
}

/** A plain file with this name only: with another one (a backup of hard links, say) its content is somebody else's, too. */
function isOurs(stats: Stats): boolean {
  const isPlain = stats.isFile() && stats.nlink === 1 && stats.size <= longest;
  return isPlain && stats.uid === us && (stats.mode & 0o7777) === permissions;
}

/** What a brain before this one kept; removes what is too many. Undefined: nothing may be kept there. */
function left(home: string, most: number): string[] | undefined {
  try {
    const stats = lstatSync(home, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    // A link would lead to files of somebody else.
    if (!stats.isDirectory() || stats.uid !== us) return undefined;
    const files = readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isFile() && isSpare(entry.name));
    for (const { name } of files.splice(most)) unlinkSync(`${home}/${name}`);
    return files.map(({ name }) => name);
  } catch {
    // It can't be read, or another process is at it, too.
    return undefined;
  }
}
