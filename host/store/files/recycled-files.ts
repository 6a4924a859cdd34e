// Recycled files: the daemon renames files instead of removing them, and writes the next files of a nearby directory into them.
//
// ext4 does not reuse an inode that was removed in the last minutes, and examines each of those inodes first. On a node with many pod
// starts and stops, making a file therefore costs more than writing it (0.13 ms after 1000 removals, docs/reference/performance.md).
// Recycling avoids the removal and the creation. Only a daemon keeps recycled files; a new daemon takes over those of the last one.
//
// A recycled file keeps its old content until it is overwritten. It therefore lies in a separate directory: native host-local and libcni
// evaluate the content of every file in their directories, whatever its name. After a power loss an old name may return with the new
// content, and an unsynced file may have its old content. Therefore a journal entry and a cached result are valid only if they name the
// attachment of their file's name, and GC removes a lease whose owner is gone.

import { randomBytes } from "node:crypto";
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
import { errnoOf } from "./errno.ts";
import { makeDirectory } from "./make-directory.ts";
import { isShared } from "./shared-with-root.ts";

/** The recycled files' directory, beside the directories that it serves. Hidden, so that it is not taken for a network's directory. */
const homeName = ".plexus-recycled";
/** Begins the name of each recycled file. */
const prefix = ".plexus-recycled-";

/** For each directory: two files for each of 500 pods that end at once, as in the drain of a large node. Each file has a page or two. */
const defaultMaxFiles = 1024;
/** Bytes. A longer file is removed, so that recycled files take little space. */
const maxFileBytes = 16 * 1024;
/** The modes of files for their owner only, and of those in a directory that root and a daemon's group share. */
const permissions: readonly number[] = [0o600, 0o660];
const openFlags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const ownUid = process.geteuid?.();

/** A recycled file under its new name, open at its beginning. It still has its old content. */
export class RecycledFile {
  /** The open file's descriptor. */
  readonly file: number;
  readonly #size: number;

  /** `size`: bytes of the old content. */
  constructor(file: number, size: number) {
    this.file = file;
    this.#size = size;
  }

  /** Cuts off the old content beyond the new content's `length`, in bytes. Throws the system's error. */
  endAt(length: number): void {
    if (length < this.#size) ftruncateSync(this.file, length);
  }
}

/**
 * The recycled files of an engine. No operation fails: without a recycled file the caller makes a new file, and the caller removes a file
 * that is not kept.
 */
export class RecycledFiles {
  readonly #maxFiles: number;
  /** Makes names unique. The process id would not: in a container, the next daemon may have the same id. */
  readonly #tag = randomBytes(6).toString("hex");
  /** Known names by directory. Other processes may take or remove these files at any time. */
  readonly #names = new Map<string, string[]>();
  #keptCount = 0;

  /** `maxFiles`: the maximum number of recycled files in each directory. */
  constructor(maxFiles: number = defaultMaxFiles) {
    this.#maxFiles = maxFiles;
  }

  /**
   * Renames a recycled file to `path`, replacing the file at `path`. After writing, the caller calls `endAt`. Undefined: no recycled file
   * is available.
   */
  take(path: string): RecycledFile | undefined {
    const home = homeOf(path);
    const names = this.#names.get(home) ?? existingFiles(home, this.#maxFiles);
    if (names === undefined) return undefined;
    this.#names.set(home, names);
    const name = names.pop();
    if (name === undefined) return undefined;
    try {
      // The rename comes first: it fails if another process has taken the same file.
      renameSync(`${home}/${name}`, path);
    } catch (error) {
      // `path` is on another file system; the recycled file stays available.
      if (errnoOf(error) === "EXDEV") names.push(name);
      // Another process took or removed the file, perhaps with all others. The next call lists the directory again.
      else this.#names.delete(home);
      return undefined;
    }
    return openRecycled(path);
  }

  /**
   * Keeps the file at `path` for reuse, under a new name. "not-kept": the caller must remove the file; "missing": there is no such file.
   * A file is kept only if this engine has written nearby: otherwise the recycled file would not be used.
   */
  keep(path: string): "kept" | "not-kept" | "missing" {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return "missing";
      const home = homeOf(path);
      const names = this.#names.get(home);
      if (names === undefined || names.length >= this.#maxFiles || !isReusable(stats)) return "not-kept";
      const name = `${prefix}${this.#tag}-${this.#keptCount++}`;
      move(path, home, name);
      names.push(name);
      return "kept";
    } catch {
      // For example, no space for the new name. The caller's removal succeeds or reports the error.
      return "not-kept";
    }
  }
}

/** Whether `name` (without a directory) is the name of a recycled file. */
export function isRecycledFile(name: string): boolean {
  return name.startsWith(prefix);
}

function homeOf(path: string): string {
  // String operations, here and below: node:path takes ten thousand instructions for the same.
  const directory = path.slice(0, path.lastIndexOf("/"));
  return `${directory.slice(0, directory.lastIndexOf("/"))}/${homeName}`;
}

function move(path: string, home: string, name: string): void {
  try {
    renameSync(path, `${home}/${name}`);
  } catch {
    // Usually the first file that is kept here, so the directory does not exist.
    makeDirectory(home);
    renameSync(path, `${home}/${name}`);
  }
}

/** Opens the renamed file. Undefined: the file must not be reused, and `path` is removed. */
function openRecycled(path: string): RecycledFile | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, openFlags);
    const stats = fstatSync(file);
    if (isReusable(stats)) return new RecycledFile(file, stats.size);
  } catch {
    // For example, a symbolic link.
  }
  try {
    if (file !== undefined) closeSync(file);
    unlinkSync(path);
  } catch {
    // The caller makes a file at `path` instead and reports the error.
  }
  return undefined;
}

/** A regular file of this user without other names. A second hard link (of a backup, for example) would share the new content. */
function isReusable(stats: Stats): boolean {
  const isPlain = stats.isFile() && stats.nlink === 1 && stats.size <= maxFileBytes;
  return isPlain && stats.uid === ownUid && permissions.includes(stats.mode & 0o7777);
}

/** Names of the files that an earlier engine kept; removes those beyond `maxFiles`. Undefined: the directory must not be used. */
function existingFiles(home: string, maxFiles: number): string[] | undefined {
  try {
    const stats = lstatSync(home, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    // A symbolic link would lead to files of another program.
    if (!stats.isDirectory() || (stats.uid !== ownUid && !(stats.uid === 0 && isShared(stats)))) return undefined;
    const files = readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isFile() && isRecycledFile(entry.name));
    for (const { name } of files.splice(maxFiles)) unlinkSync(`${home}/${name}`);
    return files.map(({ name }) => name);
  } catch {
    // The directory is unreadable, or another process changes it at the same time.
    return undefined;
  }
}
