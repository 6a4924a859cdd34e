// Reads and appends to files that another user may have replaced by a pipe, a device, a directory, a link or a file of any size. Only a
// regular file of bounded size is read or written, and no call blocks.

import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { isShared, openMade, orAskRoot, readByRoot } from "./shared-with-root.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

/** The conditions for a file that is read or appended to. */
export interface RegularFileRules {
  /** Bytes; a longer file is refused. */
  readonly maxBytes: number;
  /** Whether programs other than Plexus write the file. If not, a link and a file of an untrusted owner are refused. */
  readonly foreign: boolean;
}

/**
 * The file's text. Throws the system's error if the file cannot be opened (ENOENT; ELOOP for a refused link), and an error that names
 * the path if the file is not regular, too long or of an untrusted owner.
 */
export function readRegularFile(path: string, rules: RegularFileRules): string {
  let file: number;
  try {
    file = orAskRoot(path, () => openSync(path, O_RDONLY | O_NONBLOCK | (rules.foreign ? 0 : O_NOFOLLOW)));
  } catch (error) {
    return readByRoot(path, error).toString("utf8");
  }
  try {
    const stats = fstatSync(file);
    requireRegular(path, stats, rules);
    return readAll(file, path, rules.maxBytes, stats.size).toString("utf8");
  } finally {
    closeSync(file);
  }
}

/**
 * Appends whole lines to a file; `create` makes a missing file (mode 0600). A torn line of an interrupted append is ended first. Throws
 * as `readRegularFile` does.
 */
export function appendLines(path: string, lines: string, rules: RegularFileRules & { readonly create: boolean }): void {
  const flags = O_RDWR | O_APPEND | O_NONBLOCK | (rules.create ? O_CREAT : 0) | (rules.foreign ? 0 : O_NOFOLLOW);
  const file = rules.create ? openMade(path, flags, 0o600) : orAskRoot(path, () => openSync(path, flags));
  try {
    const stats = fstatSync(file);
    requireRegular(path, stats, rules);
    const bytes = Buffer.from(isTorn(file, stats.size) ? `\n${lines}` : lines);
    if (stats.size + bytes.length > rules.maxBytes) throw new Error(`${path} would have more than ${rules.maxBytes} bytes`);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
  } finally {
    closeSync(file);
  }
}

function requireRegular(path: string, stats: Stats, { maxBytes, foreign }: RegularFileRules): void {
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
  if (stats.size > maxBytes) throw new Error(`${path} has ${stats.size} bytes; at most ${maxBytes} are read`);
  if (!foreign && !isTrusted(path, stats))
    throw new Error(
      `${path} belongs to uid ${stats.uid}; only files of root, of Plexus' user and of the directory's owner are read`,
    );
}

/**
 * The one-shot engine may run as root although the daemon does not. Files of root, of this process's user, of the directory's owner and of the group with which
 * the directory is shared are trusted: owner and group could put any file there.
 */
function isTrusted(path: string, { uid, gid }: Stats): boolean {
  if (uid === 0 || uid === process.geteuid?.()) return true;
  const directory = statSync(dirname(path));
  return uid === directory.uid || (isShared(directory) && gid === directory.gid);
}

/** Reads until the end: a file may grow while it is read, and is refused beyond `maxBytes`. */
function readAll(file: number, path: string, maxBytes: number, size: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    // One byte more than the known size shows whether the file grew. A larger buffer would burden the garbage collector.
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(size + 1 - length, 1024), 65_536));
    const count = readSync(file, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks);
    length += count;
    if (length > maxBytes) throw new Error(`${path} has more than ${maxBytes} bytes`);
    chunks.push(chunk.subarray(0, count));
  }
}

function isTorn(file: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}
