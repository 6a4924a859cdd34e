// Where a network's leases lie, and how that place is reached without following a symbolic link.

import type { Result } from "../../src/fault/result.ts";
import { walkDirectories } from "../files/walk-directories.ts";
import { fromException, storeUnsafe } from "./store-fault.ts";

const MODE = 0o755;
const faults = { unsafe: storeUnsafe, failed: fromException };

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
  return walkDirectories(directory.root, directory.path, undefined, faults);
}

/** Makes the network's directory where it is missing, as native host-local does. */
export function make(directory: LeaseDirectory): Result<boolean> {
  return walkDirectories(directory.root, directory.path, MODE, faults);
}
