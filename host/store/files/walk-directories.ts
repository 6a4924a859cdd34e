// Going down a path without following a symbolic link, and making what is missing of it.

import { lstatSync, mkdirSync } from "node:fs";
import type { Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { makeDirectory } from "./make-directory.ts";

/** How a store words what it meets. */
export interface WalkFaults {
  /** `what` continues a sentence that begins with the path. */
  readonly unsafe: (path: string, what: string) => Fault;
  /** An exception of node:fs at this path. */
  readonly failed: (path: string, error: unknown) => Fault;
}

/**
 * Goes from `root`, which may itself be or lie behind a symbolic link, down to `path`, making what is missing if `mode` is given. Both are normal; `path`
 * equals `root` or lies beneath it. False: it isn't there. Anything but a plain directory on the way is a fault.
 */
export function walkDirectories(root: string, path: string, mode: number | undefined, faults: WalkFaults): Result<boolean> {
  for (let end = root.length; end < path.length;) {
    const next = path.indexOf("/", end + 1);
    end = next < 0 ? path.length : next;
    const at = path.slice(0, end);
    try {
      const there = stat(at);
      if (there === "directory") continue;
      if (there === "other") return failed(faults.unsafe(at, "is not a plain directory (symbolic links are not followed here)"));
      if (mode === undefined) return ok(false);
      makeOne(root, at, mode);
    } catch (error) {
      return failed(faults.failed(at, error));
    }
  }
  return ok(true);
}

function stat(path: string): "directory" | "other" | "nothing" {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "nothing";
  return found.isDirectory() ? "directory" : "other";
}

/** Several processes may make the same directory at once: that it is there is all that counts. */
function makeOne(root: string, path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isCode(error, "EEXIST") && stat(path) === "directory") return;
    if (!isCode(error, "ENOENT")) throw error;
    makeDirectory(root, mode);
    try {
      mkdirSync(path, { mode });
    } catch (again) {
      if (!isCode(again, "EEXIST") || stat(path) !== "directory") throw again;
    }
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
