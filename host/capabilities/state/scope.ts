// Binds the capability `state` to one call: one small text for its attachment, in the file that the reference tuning plugin also uses.
// Any other request is refused here, before a file is touched.

import { join } from "node:path";
import { defaultStateDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { StateCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { removeFile, writeWhole } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { allowedDirectory, walkDirectories } from "../../store/files/walk-directories.ts";
import { maxStateBytes, type StateCall, stateOver, type StateStore } from "./capability.ts";

/** The call that the capability is bound to, and its grant. */
export interface StateScope extends StateCall {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  /** Absolute paths. The first one is the default. An entry that ends in `/` also allows every directory beneath it. */
  readonly directories?: readonly string[] | undefined;
}

/** The mode of a new directory. Like the file, the directory is accessible to its owner only. */
const MODE = 0o700;

/** The capability for the delegate of one call. `wrap` replaces the files' store, for a shadow. */
export function stateFor(scope: StateScope, wrap: (store: StateStore) => StateStore = (store) => store): StateCapability {
  return stateOver(scope, (fileName) => wrap(stateFiles(scope, fileName)));
}

/** The files of one name in the granted directories. */
function stateFiles(scope: StateScope, fileName: string): StateStore {
  return {
    load: (directory) => {
      const path = fileOf(scope, fileName, directory, undefined);
      if (!path.ok || path.value === undefined) return path;
      try {
        return ok(readRegularFile(path.value, { maxBytes: maxStateBytes, foreign: false }));
      } catch (error) {
        return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(failure(path.value, error));
      }
    },
    save: (directory, text) => {
      const path = fileOf(scope, fileName, directory, MODE);
      if (!path.ok) return path;
      // Without fsync: a power loss ends the pod's network namespace, and the state with it.
      return path.value === undefined ? ok(undefined) : withoutValue(writeWhole(path.value, text));
    },
    remove: (directory) => {
      const path = fileOf(scope, fileName, directory, undefined);
      if (!path.ok) return path;
      return path.value === undefined ? ok(undefined) : withoutValue(removeFile(path.value));
    },
  };
}

/** The attachment's file. A missing directory is made if `mode` is defined; otherwise the result is undefined. */
function fileOf(
  { type, directories = [] }: StateScope,
  fileName: string,
  requested: string | undefined,
  mode: number | undefined,
): Result<string | undefined> {
  const [first = defaultStateDirectory, ...further] = directories;
  const allowed = allowedDirectory([first, ...further], requested);
  if (typeof allowed === "string") {
    const why = allowed === "is not an absolute path" ? `, which ${allowed},` : "";
    const request = `state: directory ${quote(requested ?? "")}${why}`;
    return failed(notGranted({ type, key: "state.directories", request, granted: [first, ...further] }));
  }
  const exists = walkDirectories(allowed.root, allowed.directory, mode, walkFaults);
  if (!exists.ok) return exists;
  return ok(exists.value ? join(allowed.directory, fileName) : undefined);
}

const walkFaults = {
  unsafe: (path: string, what: string): Fault => fault("STORE_UNSAFE", `state: ${path} ${what}`),
  failed: failure,
};

function failure(path: string, error: unknown): Fault {
  return fault("STORE_FAILED", `state: ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

function withoutValue(result: Result<void>): Result<undefined> {
  return result.ok ? ok(undefined) : result;
}
