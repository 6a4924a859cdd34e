// Finds, opens and reads the files of a manifest directory. Only regular files below the directory are read, and unchanged files
// are not read again.

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type BigIntStats,
  type Dirent,
} from "node:fs";
import { join, sep } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Clock } from "../../system/clock.ts";
import { identityOf, isSettled } from "../../store/files/file-identity.ts";

/** An opened manifest file. */
export interface ManifestFile {
  readonly path: string;
  /** Device, inode, size and time of change: differs after every change of the file. */
  readonly identity: string;
  /** Whether every later change will alter the identity. */
  readonly settled: boolean;
  /** The text, or why it cannot be read; called only for a new identity. */
  readonly read: () => Result<string>;
  readonly close: () => void;
}

/** Bytes of one file. The API accepts objects of up to 1.5 MiB; a file may contain several. */
const maxFileBytes = 4 * 1024 * 1024;
const maxFiles = 10_000;

const extension = /\.(?:yaml|yml|json)$/;

/**
 * The manifest files of `directory`, sorted by name. Hidden files are left out: editors' files, and the `..data` of a mounted
 * ConfigMap. Fault CLUSTER_UNREADABLE.
 */
export function listManifests(directory: string): Result<readonly Dirent[]> {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    const files = entries.filter((entry) => extension.test(entry.name) && !entry.name.startsWith("."));
    if (files.length > maxFiles)
      return unreadable(`${directory} has ${files.length} manifest files; at most ${maxFiles} are read`);
    return ok(files.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
  } catch (error) {
    return unreadable(`manifest directory ${directory}: ${reason(error)}`);
  }
}

/**
 * Opens a manifest file, which the caller closes. A symbolic link may point below the directory, as those of a mounted ConfigMap
 * do. Fault CLUSTER_UNREADABLE: not a regular file, too large, outside the directory, or the system's reason.
 */
export function openManifest(directory: string, entry: Dirent, { date }: Clock): Result<ManifestFile> {
  const path = join(directory, entry.name);
  let file: number;
  try {
    // O_NONBLOCK: opening a FIFO without a writer must not block.
    const follow = entry.isSymbolicLink() ? 0 : constants.O_NOFOLLOW;
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | follow);
  } catch (error) {
    return unreadable(`${path}: ${reason(error)}`);
  }
  const close = (): void => closeSync(file);
  try {
    const stats = fstatSync(file, { bigint: true });
    const problem = problemOf(stats) ?? (entry.isSymbolicLink() ? linkProblem(directory, file) : undefined);
    const settled = isSettled(stats, date().getTime());
    if (problem === undefined) return ok({ path, identity: identityOf(stats), settled, read: () => readAll(file, path), close });
    close();
    return unreadable(`${path} ${problem}`);
  } catch (error) {
    close();
    return unreadable(`${path}: ${reason(error)}`);
  }
}

function problemOf(stats: BigIntStats): string | undefined {
  if (!stats.isFile()) return "is not a regular file";
  return stats.size > maxFileBytes ? `has ${stats.size} bytes; at most ${maxFileBytes} are read` : undefined;
}

/** Checks the opened file, because the path may lead to another file by now. */
function linkProblem(directory: string, file: number): string | undefined {
  const target = realpathSync(`/proc/self/fd/${file}`);
  return target.startsWith(realpathSync(directory) + sep) ? undefined : "is a link that leads out of the directory";
}

/** A file that grows during the read is refused at the limit. */
function readAll(file: number, path: string): Result<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(65_536);
      const count = readSync(file, chunk, 0, chunk.length, null);
      if (count === 0) break;
      length += count;
      if (length > maxFileBytes) return unreadable(`${path} has more than ${maxFileBytes} bytes`);
      chunks.push(chunk.subarray(0, count));
    }
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    return unreadable(`${path}: ${reason(error)}`);
  }
}

function unreadable(msg: string): Result<never> {
  return failed(fault("CLUSTER_UNREADABLE", msg));
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
