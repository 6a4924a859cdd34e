// The directory of chain traces. A trace shows what a call contains, so only its owner and root can read it, and the oldest files are removed for new ones.

import { accessSync, closeSync, constants, fchownSync, lstatSync, openSync, readdirSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { removeQuietly, storeFault, writeWhole } from "../files/durable-file.ts";
import { makeDirectory } from "../files/make-directory.ts";
import type { Clock } from "../../system/clock.ts";
import { isShared } from "../files/shared-with-root.ts";

/** The bounds of a directory. */
export interface TraceBounds {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** A trace's file. */
export interface TraceFile {
  readonly name: string;
  readonly bytes: number;
}

/** Begins with the time, so that the order of names is that of time. Other files of the directory are never touched. */
const traceName = /^\d{4}-\d\d-\d\dT[\w.-]{1,200}\.json$/;

/**
 * Makes the directory, if it is missing (mode 0700). An existing one is never changed: the configuration may name a directory that other
 * programs need. Faults: STORE_UNSAFE if other users may enter it, or if it is a link or belongs to another user; STORE_FAILED.
 */
export function openTraceDirectory(path: string, { date }: Clock): Result<void> {
  try {
    if (makeDirectory(path)) giveToOwner(path);
    const stats = lstatSync(path);
    const user = process.geteuid?.();
    if (!stats.isDirectory()) return failed(fault("STORE_UNSAFE", `directory of traces ${path}: is a link or no directory`));
    if (stats.uid !== user && stats.uid !== 0 && user !== 0)
      return failed(
        fault("STORE_UNSAFE", `directory of traces ${path}: belongs to uid ${stats.uid}, not to Plexus' uid ${user}`),
      );
    // The group of a shared directory is the daemon's.
    if ((stats.mode & (isShared(stats) ? 0o007 : 0o077)) !== 0)
      return failed(fault("STORE_UNSAFE", `directory of traces ${path}: other users may enter it; its mode must be 0700`));
    accessSync(path, constants.W_OK | constants.X_OK);
    removeTorn(path, date().getTime());
    return ok(undefined);
  } catch (error) {
    return failed(storeFault("making", path, error));
  }
}

/**
 * Gives a directory that root has made to the owner of its parent: a one-shot engine runs as root although the daemon of the same state
 * directory may not.
 */
function giveToOwner(path: string): void {
  const parent = statSync(dirname(path));
  if (process.geteuid?.() !== 0 || parent.uid === 0) return;
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchownSync(directory, parent.uid, parent.gid);
  } finally {
    closeSync(directory);
  }
}

/** Temporary files that are older belong to a writer that has ended, in milliseconds. */
const tornMs = 60_000;

/** Removes what interrupted writes have left: such files count for no bound, and each write has another name. */
function removeTorn(directory: string, nowMs: number): void {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(".") || !traceName.test(name.slice(1))) continue;
    const path = join(directory, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && nowMs - stats.mtimeMs > tornMs) removeQuietly(path);
  }
}

/** Writes a trace (mode 0600) and removes the oldest ones beyond the bounds. `name`: see `traceFileName`. Faults: STORE_FAILED. */
export function writeTrace(directory: string, name: string, text: string, { maxFiles, maxBytes }: TraceBounds): Result<string> {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    const why = `has ${bytes} bytes; the directory may have ${maxBytes} (chainTrace.maxMiB)`;
    return failed(fault("STORE_FAILED", `writing trace ${join(directory, name)}: ${why}`));
  }
  const files = listTraces(directory);
  if (!files.ok) return files;
  let total = files.value.reduce((sum, file) => sum + file.bytes, bytes);
  let count = files.value.length + 1;
  for (const file of files.value.toReversed()) {
    if (count <= maxFiles && total <= maxBytes) break;
    try {
      unlinkSync(join(directory, file.name));
    } catch {
      // Another engine has removed the file.
    }
    count -= 1;
    total -= file.bytes;
  }
  const path = join(directory, name);
  const written = writeWhole(path, text);
  return written.ok ? ok(path) : written;
}

/** The traces of a directory, the newest first; none if the directory does not exist. Fault STORE_FAILED. */
export function listTraces(directory: string): Result<readonly TraceFile[]> {
  try {
    const names = readdirSync(directory).filter((name) => traceName.test(name));
    const files = names.flatMap((name): TraceFile[] => {
      const stats = lstatSync(join(directory, name), { throwIfNoEntry: false });
      return stats?.isFile() === true ? [{ name, bytes: stats.size }] : [];
    });
    return ok(files.toSorted((one, other) => (one.name < other.name ? 1 : -1)));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return ok([]);
    return failed(storeFault("listing", directory, error));
  }
}

/** The name of a trace's file. `unique`: distinguishes calls of the same millisecond. */
export function traceFileName({
  time,
  verb,
  containerId,
  ifname,
  unique,
}: Readonly<Record<"time" | "verb" | "containerId" | "ifname" | "unique", string>>): string {
  const parts = [time.replaceAll(":", "-"), verb, containerId.slice(0, 12), ifname, unique].filter((part) => part !== "");
  return `${parts.join("_").replaceAll(/[^\w.-]/g, "-")}.json`;
}
