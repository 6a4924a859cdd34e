// Binds the capability `state` to one call: one small text for its attachment, in a file where the reference tuning plugin keeps its own.
// What a delegate asks beyond that is refused here, before anything is touched.

import { join } from "node:path";
import type { AttachmentId } from "../../src/cni/attachment.ts";
import type { Verb } from "../../src/cni/environment.ts";
import { notGranted } from "../../src/configuration/not-granted.ts";
import { defaultStateDirectory } from "../../src/configuration/wasm-configuration.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import { allowedDirectory } from "../files/allowed-directory.ts";
import { removeFile, writeDurably } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { readRegularFile } from "../files/regular-file.ts";
import { walkDirectories } from "../files/walk-directories.ts";
import type { Fault as WitFault, StateCapability } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";

export interface StateScope {
  /** The delegate's type, under which its grant stands. */
  readonly type: string;
  readonly verb: Verb;
  /** Undefined where the call is about none (GC, STATUS). */
  readonly attachment: AttachmentId | undefined;
  /** Absolute; the first is the one for configurations that name none. One that ends in `/` admits what lies beneath it, too. */
  readonly directories?: readonly string[] | undefined;
}

/** The longest text, in bytes of UTF-8. */
export const mostStateBytes = 65_536;

/** For its owner alone, as the file. */
const MODE = 0o700;

/** Verbs that may change it. */
const writers: ReadonlySet<Verb> = new Set(["ADD", "DEL"]);

/** The capability as the delegate of this one call gets it. */
export function stateFor(scope: StateScope): StateCapability {
  return {
    load: (directory) => answer(load(scope, directory)),
    save: (directory, text) => answer(save(scope, directory, text)),
    remove: (directory) => answer(remove(scope, directory)),
  };
}

function load(scope: StateScope, directory: string | undefined): Result<string | undefined> {
  const path = fileOf(scope, directory, undefined);
  if (!path.ok || path.value === undefined) return path;
  try {
    return ok(readRegularFile(path.value, { most: mostStateBytes, foreign: false }));
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(failure(path.value, error));
  }
}

function save(scope: StateScope, directory: string | undefined, text: string): Result<undefined> {
  const readOnly = whyNotWritten(scope);
  if (readOnly !== undefined) return failed(readOnly);
  const size = Buffer.byteLength(text);
  if (size > mostStateBytes) return failed(misused(`a text of ${size} bytes, at most ${mostStateBytes} are kept`));
  const path = fileOf(scope, directory, MODE);
  if (!path.ok) return path;
  return path.value === undefined ? ok(undefined) : done(writeDurably(path.value, text));
}

function remove(scope: StateScope, directory: string | undefined): Result<undefined> {
  const readOnly = whyNotWritten(scope);
  if (readOnly !== undefined) return failed(readOnly);
  const path = fileOf(scope, directory, undefined);
  if (!path.ok) return path;
  return path.value === undefined ? ok(undefined) : done(removeFile(path.value));
}

/** The attachment's file; undefined where its directory is not there and `mode`, to make it with, isn't given. */
function fileOf(scope: StateScope, wanted: string | undefined, mode: number | undefined): Result<string | undefined> {
  const { type, verb, attachment, directories = [] } = scope;
  if (attachment === undefined) return failed(misused(`${verb} has no attachment whose state it could be`));
  const name = `${attachment.containerId}_${attachment.ifname}.json`;
  if (/[/\0]/u.test(name)) return failed(misused(`${quote(name)} is no name of a file`));
  const [first = defaultStateDirectory, ...further] = directories;
  const place = allowedDirectory([first, ...further], wanted);
  if (typeof place === "string") {
    const why = place === "is not an absolute path" ? `, which ${place},` : "";
    const asked = `state: directory ${quote(wanted ?? "")}${why}`;
    return failed(notGranted({ type, key: "state.directories", asked, granted: [first, ...further] }));
  }
  const there = walkDirectories(place.root, place.directory, mode, walkFaults);
  if (!there.ok) return there;
  return ok(there.value ? join(place.directory, name) : undefined);
}

function whyNotWritten({ verb }: StateScope): Fault | undefined {
  return writers.has(verb) ? undefined : misused(`${verb} changes no state, it may load it only`);
}

const walkFaults = {
  unsafe: (path: string, what: string): Fault => fault("STORE_UNSAFE", `state: ${path} ${what}`),
  failed: failure,
};

function failure(path: string, error: unknown): Fault {
  return fault("STORE_FAILED", `state: ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

function done(result: Result<void>): Result<undefined> {
  return result.ok ? ok(undefined) : result;
}

function misused(what: string): Fault {
  return fault("CAPABILITY_MISUSED", `state: ${what}`);
}

function answer<T>(result: Result<T>): Outcome<T, WitFault> {
  if (result.ok) return { ok: result.value };
  const { code, msg, details } = result.fault;
  return { err: { code, msg, details } };
}
