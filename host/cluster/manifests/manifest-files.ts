// The files of a manifest directory: found, opened with care and read. Nothing that isn't a regular file below the directory
// is read, and nothing that has not changed is read again.

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
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { identityOf, isSettled } from "../files/file-identity.ts";

export interface ManifestFile {
  readonly path: string;
  /** Changes whenever the file does: device, inode, size and time of change. */
  readonly identity: string;
  /** Whether every change from now on will show in it. */
  readonly settled: boolean;
  /** The text, or why it can't be had; only asked for when the identity is a new one. */
  readonly read: () => Result<string>;
  readonly close: () => void;
}

/** Bytes of one file. The API takes objects of up to 1.5 MiB; a file may hold several. */
const largestFile = 4 * 1024 * 1024;
const mostFiles = 10_000;

const ending = /\.(?:yaml|yml|json)$/;

/**
 * Names of the manifest files of `directory`, sorted. Hidden ones are left out: editors' and, of a mounted ConfigMap, the
 * `..data` behind the links. Fault CLUSTER_UNREADABLE.
 */
export function listManifests(directory: string): Result<readonly Dirent[]> {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    const files = entries.filter((entry) => ending.test(entry.name) && !entry.name.startsWith("."));
    if (files.length > mostFiles)
      return unreadable(`${directory} has ${files.length} manifest files; at most ${mostFiles} are read`);
    return ok(files.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
  } catch (error) {
    return unreadable(`manifest directory ${directory}: ${reason(error)}`);
  }
}

/**
 * Opens one of them; the caller closes it. A symbolic link is followed as long as it ends below the directory, as those of
 * a mounted ConfigMap do. Fault CLUSTER_UNREADABLE: no regular file, too large, elsewhere, or the system's reason.
 */
export function openManifest(directory: string, entry: Dirent): Result<ManifestFile> {
  const path = join(directory, entry.name);
  let file: number;
  try {
    // O_NONBLOCK: opening a pipe that nobody writes to must not wait for a writer.
    const follow = entry.isSymbolicLink() ? 0 : constants.O_NOFOLLOW;
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | follow);
  } catch (error) {
    return unreadable(`${path}: ${reason(error)}`);
  }
  const close = (): void => closeSync(file);
  try {
    const stats = fstatSync(file, { bigint: true });
    const problem = problemOf(stats) ?? (entry.isSymbolicLink() ? elsewhere(directory, file) : undefined);
    const settled = isSettled(stats, Date.now());
    if (problem === undefined) return ok({ path, identity: identityOf(stats), settled, read: () => readAll(file, path), close });
    close();
    return unreadable(`${path} ${problem}`);
  } catch (error) {
    close();
    return unreadable(`${path}: ${reason(error)}`);
  }
}

function problemOf(stats: BigIntStats): string | undefined {
  if (!stats.isFile()) return "is no regular file";
  return stats.size > largestFile ? `has ${stats.size} bytes; at most ${largestFile} are read` : undefined;
}

/** Asked of the opened file rather than of the path, which could be another one by now. */
function elsewhere(directory: string, file: number): string | undefined {
  const target = realpathSync(`/proc/self/fd/${file}`);
  return target.startsWith(realpathSync(directory) + sep) ? undefined : "is a link that leads out of the directory";
}

/** A file that grows while it is read is refused at the bound. */
function readAll(file: number, path: string): Result<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(65_536);
      const count = readSync(file, chunk, 0, chunk.length, null);
      if (count === 0) break;
      length += count;
      if (length > largestFile) return unreadable(`${path} has more than ${largestFile} bytes`);
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
