// Directories that a configuration names: an administrator lists them, and an entry that ends in `/` also allows every directory beneath it. The path beneath an entry
// is walked without following symbolic links, and missing directories are made.

import { lstatSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { makeDirectory, makeNewDirectory } from "./make-directory.ts";

/** Both paths are absolute and normal; `directory` equals `root` or lies beneath it. */
export interface AllowedDirectory {
  /** The administrator's directory, which is trusted. The path beneath it must be walked without following symbolic links. */
  readonly root: string;
  readonly directory: string;
}

/**
 * The requested directory, if `entries` allow it; without a request (absent or empty) the first entry. A refusal is the end of a
 * sentence that begins with the path.
 */
export function allowedDirectory(
  entries: readonly [string, ...string[]],
  requested: string | undefined,
): AllowedDirectory | "is not an absolute path" | "is not an allowed directory" {
  const defaultDirectory = resolve(entries[0]);
  if (requested === undefined || requested === "") return { root: defaultDirectory, directory: defaultDirectory };
  if (!isAbsolute(requested) || requested.includes("\0")) return "is not an absolute path";
  const directory = resolve(requested);
  if (entries.some((entry) => entry === directory || resolve(entry) === directory)) return { root: directory, directory };
  const root = entries.find((entry) => entry.endsWith("/") && isBeneath(resolve(entry), directory));
  return root === undefined ? "is not an allowed directory" : { root: resolve(root), directory };
}

function isBeneath(root: string, path: string): boolean {
  return path.startsWith(root === "/" ? root : `${root}/`);
}

/** A store's faults for a path that cannot be walked. */
export interface WalkFaults {
  /** The path is not a plain directory; `what` continues a sentence that begins with the path. */
  readonly unsafe: (path: string, what: string) => Fault;
  /** node:fs threw `error` at this path. */
  readonly failed: (path: string, error: unknown) => Fault;
}

/**
 * Walks from `root` down to `path`; with `mode`, makes missing directories. `root` is trusted and may be or contain a symbolic link. Both
 * paths are normal, and `path` equals `root` or lies beneath it. False: `path` does not exist. A link or a file on the way is a fault.
 */
export function walkDirectories(root: string, path: string, mode: number | undefined, faults: WalkFaults): Result<boolean> {
  for (let end = root.length; end < path.length;) {
    const next = path.indexOf("/", end + 1);
    end = next < 0 ? path.length : next;
    const at = path.slice(0, end);
    try {
      const kind = kindOf(at);
      if (kind === "directory") continue;
      if (kind === "other") return failed(faults.unsafe(at, "is not a plain directory (symbolic links are not followed here)"));
      if (mode === undefined) return ok(false);
      makeOne(root, at, mode);
    } catch (error) {
      return failed(faults.failed(at, error));
    }
  }
  return ok(true);
}

function kindOf(path: string): "directory" | "other" | "nothing" {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "nothing";
  return found.isDirectory() ? "directory" : "other";
}

/** Another process may make the same directory at the same time; then EEXIST is a success. */
function makeOne(root: string, path: string, mode: number): void {
  try {
    makeNewDirectory(path, mode);
  } catch (error) {
    if (isCode(error, "EEXIST") && kindOf(path) === "directory") return;
    if (!isCode(error, "ENOENT")) throw error;
    makeDirectory(root, mode);
    try {
      makeNewDirectory(path, mode);
    } catch (again) {
      if (!isCode(again, "EEXIST") || kindOf(path) !== "directory") throw again;
    }
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
