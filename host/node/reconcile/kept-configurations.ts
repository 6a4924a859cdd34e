// Keeps Plexus' own configuration as the runtime last passed it. The reconciler needs its grants, limits and directories before the first
// call after a reboot, and the daemon cannot read the runtime's files.

import { join } from "node:path";
import { runtimeKeys } from "../../../src/configuration/keys.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { editMembers, parseDocument } from "../../../src/json/document.ts";
import { checkNetworkName } from "../../../src/cni/names.ts";
import { storeFault, writeDurably } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";

/** The same limit as for stdin. */
const readOptions = { maxBytes: 8 * 1024 * 1024, foreign: false } as const;

/** Keys that belong to one call or pod: they are removed. */
const keysPerCall: ReadonlyMap<string, undefined> = new Map(runtimeKeys.map((key) => [key, undefined]));

/** The configurations of one state directory: one file for each configuration name. */
export class KeptConfigurations {
  readonly directory: string;
  readonly #written = new Map<string, string>();

  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, "configurations");
  }

  /** Stores a configuration under its name, durably. Writes only if the file's content differs. Fault STORE_FAILED. */
  keep(name: string, stdin: string): Result<void> {
    const document = parseDocument(stdin, { what: "network configuration on stdin" });
    const path = this.#pathOf(name);
    if (!document.ok) return document;
    if (!path.ok) return path;
    const text = editMembers(document.value, keysPerCall);
    const before = this.#written.get(name) ?? this.#textOf(path.value);
    if (before !== text) {
      const written = writeDurably(path.value, text);
      if (!written.ok) return written;
    }
    this.#written.set(name, text);
    return ok(undefined);
  }

  /** The configuration stored under this name; undefined if there is none. Faults: STORE_FAILED; CONFIG_INVALID for an invalid name. */
  load(name: string): Result<string | undefined> {
    const path = this.#pathOf(name);
    return path.ok ? this.#read(path.value) : path;
  }

  #textOf(path: string): string | undefined {
    const read = this.#read(path);
    return read.ok ? read.value : undefined;
  }

  #read(path: string): Result<string | undefined> {
    try {
      return ok(readRegularFile(path, readOptions));
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok(undefined) : { ok: false, fault: storeFault("reading", path, error) };
    }
  }

  #pathOf(name: string): Result<string> {
    const checked = checkNetworkName(name);
    return checked.ok ? ok(join(this.directory, name)) : checked;
  }
}
