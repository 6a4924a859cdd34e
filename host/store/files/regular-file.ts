// Reading and appending to files that somebody else may have replaced: by a pipe that nobody writes to, a device, a
// directory, a link, something endless. Nothing but a regular file of bounded size is touched, and nothing blocks.

import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync, type Stats } from "node:fs";
import { dirname } from "node:path";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

export interface RegularFileRules {
  /** Bytes; a longer file is refused. */
  readonly most: number;
  /** False for files of our own making: nobody has a reason to put a link in their place, or a file of some other user. */
  readonly foreign: boolean;
}

/**
 * The file's text. Throws the system's error where it can't be opened (ENOENT, ELOOP for a link where links are refused), and
 * an error that says what it is where it is no regular file, too long, or another owner's.
 */
export function readRegularFile(path: string, rules: RegularFileRules): string {
  const file = openSync(path, O_RDONLY | O_NONBLOCK | (rules.foreign ? 0 : O_NOFOLLOW));
  try {
    const stats = fstatSync(file);
    demand(path, stats, rules);
    return readAll(file, path, rules.most, stats.size).toString("utf8");
  } finally {
    closeSync(file);
  }
}

/**
 * Appends whole lines to a file, which is made where there is none (mode 0600) if `create` says so. What an interrupted append left without its line
 * feed stays a line of its own. Throws as `readRegularFile` does.
 */
export function appendLines(path: string, lines: string, rules: RegularFileRules & { readonly create: boolean }): void {
  const flags = O_RDWR | O_APPEND | O_NONBLOCK | (rules.create ? O_CREAT : 0) | (rules.foreign ? 0 : O_NOFOLLOW);
  const file = openSync(path, flags, 0o600);
  try {
    const stats = fstatSync(file);
    demand(path, stats, rules);
    const bytes = Buffer.from(isTorn(file, stats.size) ? `\n${lines}` : lines);
    if (stats.size + bytes.length > rules.most) throw new Error(`${path} would have more than ${rules.most} bytes`);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
  } finally {
    closeSync(file);
  }
}

function demand(path: string, stats: Stats, { most, foreign }: RegularFileRules): void {
  if (!stats.isFile()) throw new Error(`${path} is no regular file`);
  if (stats.size > most) throw new Error(`${path} has ${stats.size} bytes; at most ${most} are taken`);
  if (!foreign && !isTrusted(path, stats.uid)) throw new Error(`${path} belongs to another user (${stats.uid})`);
}

/**
 * A brain for one call may be root's where the resident one is not: files of root, of ours and of the directory's owner, who could
 * put any file there, are believed.
 */
function isTrusted(path: string, uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.() || uid === statSync(dirname(path)).uid;
}

/** A file that grows while it is read is refused at the bound. */
function readAll(file: number, path: string, most: number, size: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    // As much as is there, and one byte more that says whether it grew: larger buffers are the collector's work.
    const chunk = Buffer.allocUnsafe(Math.min(Math.max(size + 1 - length, 1024), 65_536));
    const count = readSync(file, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks);
    length += count;
    if (length > most) throw new Error(`${path} has more than ${most} bytes`);
    chunks.push(chunk.subarray(0, count));
  }
}

function isTorn(file: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}
