// Where a network's leases lie, and how that place is reached without following a symbolic link.

import { lstatSync, mkdirSync } from "node:fs";
import { makeDirectory } from "../files/make-directory.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { fromException, hasCode, storeUnsafe } from "./store-fault.ts";

const MODE = 0o755;

export interface LeaseDirectory {
  /** The administrator's directory: vouched for, so it may itself be or lie behind a symbolic link. */
  readonly root: string;
  /** The network's directory: a file for each address, named after it. */
  readonly path: string;
  /** The file that native host-local locks too. */
  readonly lock: string;
}

/** The directory of `network` within `dataDir`, which equals `root` or lies beneath it. `network` is a CNI network name. */
export function leaseDirectory(root: string, dataDir: string, network: string): LeaseDirectory {
  const path = `${dataDir === "/" ? "" : dataDir}/${network}`;
  return { root, path, lock: `${path}/lock` };
}

/** Whether the network's directory is there. Anything but a plain directory in its place is a fault. */
export function isThere(directory: LeaseDirectory): Result<boolean> {
  return walk(directory.root, directory.path, undefined);
}

/** Makes the network's directory where it is missing, as native host-local does. */
export function make(directory: LeaseDirectory): Result<boolean> {
  return walk(directory.root, directory.path, MODE);
}

/** Goes from `root` down to `path`, making what is missing if `mode` is given. */
function walk(root: string, path: string, mode: number | undefined): Result<boolean> {
  // Both are normal: `path` lies beneath `root`.
  for (let end = root.length; end < path.length;) {
    const next = path.indexOf("/", end + 1);
    end = next < 0 ? path.length : next;
    const at = path.slice(0, end);
    try {
      const there = stat(at);
      if (there === "directory") continue;
      if (there === "other") return failed(storeUnsafe(at, "is not a plain directory (symbolic links are not followed here)"));
      if (mode === undefined) return ok(false);
      makeOne(root, at, mode);
    } catch (error) {
      return failed(fromException(at, error));
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
    if (hasCode(error, "EEXIST") && stat(path) === "directory") return;
    if (!hasCode(error, "ENOENT")) throw error;
    makeDirectory(root, MODE);
    try {
      mkdirSync(path, { mode });
    } catch (again) {
      if (!hasCode(again, "EEXIST") || stat(path) !== "directory") throw again;
    }
  }
}
