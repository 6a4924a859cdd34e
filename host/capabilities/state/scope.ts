// Binds the capability `state` to one call: one small text for its attachment, in the file that the reference tuning plugin also uses.
// Any other request is refused here, before a file is touched.

import { join } from "node:path";
import type { AttachmentId } from "../../../src/cni/attachment.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import { defaultStateDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { allowedDirectory } from "../../store/files/allowed-directory.ts";
import { removeFile, writeDurably } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { walkDirectories } from "../../store/files/walk-directories.ts";
import type { StateCapability } from "../../sandbox/abi/generated/delegate-1.0.0.ts";
import { misuseOf, witOutcome } from "../outcome.ts";

/** The call that the capability is bound to, and its grant. */
export interface StateScope {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
  /** Absolute paths. The first one is the default. An entry that ends in `/` also allows every directory beneath it. */
  readonly directories?: readonly string[] | undefined;
}

/** Maximum length of the text, in bytes of UTF-8. */
export const maxStateBytes = 65_536;

/** The mode of a new directory. Like the file, the directory is accessible to its owner only. */
const MODE = 0o700;

const misused = misuseOf("state");

/** Verbs that may change the state. */
const writingVerbs: ReadonlySet<Verb> = new Set(["ADD", "DEL"]);

/** The capability for the delegate of one call. */
export function stateFor(scope: StateScope): StateCapability {
  return {
    load: (directory) => witOutcome(load(scope, directory)),
    save: (directory, text) => witOutcome(save(scope, directory, text)),
    remove: (directory) => witOutcome(remove(scope, directory)),
  };
}

function load(scope: StateScope, directory: string | undefined): Result<string | undefined> {
  const path = fileOf(scope, directory, undefined);
  if (!path.ok || path.value === undefined) return path;
  try {
    return ok(readRegularFile(path.value, { maxBytes: maxStateBytes, foreign: false }));
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(failure(path.value, error));
  }
}

/** Why a text cannot be saved, or with an empty text not be removed; undefined if it can. */
export function changeDenial(scope: Pick<StateScope, "type" | "verb" | "attachment">, text: string): Fault | undefined {
  const size = Buffer.byteLength(text);
  return (
    writeDenial(scope) ??
    (size > maxStateBytes ? misused(`the text has ${size} bytes; the maximum is ${maxStateBytes}`) : undefined)
  );
}

function save(scope: StateScope, directory: string | undefined, text: string): Result<undefined> {
  const denied = changeDenial(scope, text);
  if (denied !== undefined) return failed(denied);
  const path = fileOf(scope, directory, MODE);
  if (!path.ok) return path;
  return path.value === undefined ? ok(undefined) : withoutValue(writeDurably(path.value, text));
}

function remove(scope: StateScope, directory: string | undefined): Result<undefined> {
  const denied = writeDenial(scope);
  if (denied !== undefined) return failed(denied);
  const path = fileOf(scope, directory, undefined);
  if (!path.ok) return path;
  return path.value === undefined ? ok(undefined) : withoutValue(removeFile(path.value));
}

/** The attachment's file. A missing directory is made if `mode` is defined; otherwise the result is undefined. */
function fileOf(scope: StateScope, requested: string | undefined, mode: number | undefined): Result<string | undefined> {
  const { type, verb, attachment, directories = [] } = scope;
  if (attachment === undefined) return failed(misused(`${verb} has no attachment, and so no state`));
  const name = `${attachment.containerId}_${attachment.ifname}.json`;
  if (/[/\0]/u.test(name)) return failed(misused(`${quote(name)} is not a valid file name`));
  const [first = defaultStateDirectory, ...further] = directories;
  const allowed = allowedDirectory([first, ...further], requested);
  if (typeof allowed === "string") {
    const why = allowed === "is not an absolute path" ? `, which ${allowed},` : "";
    const request = `state: directory ${quote(requested ?? "")}${why}`;
    return failed(notGranted({ type, key: "state.directories", request, granted: [first, ...further] }));
  }
  const exists = walkDirectories(allowed.root, allowed.directory, mode, walkFaults);
  if (!exists.ok) return exists;
  return ok(exists.value ? join(allowed.directory, name) : undefined);
}

/** The fault of a verb that may not change the state; undefined if it may. */
function writeDenial({ verb }: StateScope): Fault | undefined {
  return writingVerbs.has(verb) ? undefined : misused(`${verb} may only load the state, not change it`);
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
