// The lease directory of a network. Paths beneath the administrator's directory are walked without following symbolic links.

import type { Result } from "../../../src/fault/result.ts";
import { walkDirectories } from "../../store/files/walk-directories.ts";
import { fromException, storeUnsafe } from "./store-fault.ts";

const MODE = 0o755;
const faults = { unsafe: storeUnsafe, failed: fromException };

/** The paths of one network's leases. */
export interface LeaseDirectory {
  /** The administrator's directory. It is trusted, so it may be or contain a symbolic link. */
  readonly root: string;
  /** The network's directory, with a file for each lease, named after its address. */
  readonly path: string;
  /** The lock file, which native host-local locks, too. */
  readonly lock: string;
}

/** The lease directory of `network` in `dataDir`. `dataDir` equals `root` or is beneath it. `network` is a valid CNI network name. */
export function leaseDirectory(root: string, dataDir: string, network: string): LeaseDirectory {
  const path = `${dataDir === "/" ? "" : dataDir}/${network}`;
  return { root, path, lock: `${path}/lock` };
}

/** Whether the network's directory exists. Fault: STORE_UNSAFE if it is not a plain directory. */
export function directoryExists(directory: LeaseDirectory): Result<boolean> {
  return walkDirectories(directory.root, directory.path, undefined, faults);
}

/** Makes the network's directory if it is missing, as native host-local does. Faults: STORE_UNSAFE, STORE_FAILED. */
export function makeLeaseDirectory(directory: LeaseDirectory): Result<boolean> {
  return walkDirectories(directory.root, directory.path, MODE, faults);
}
