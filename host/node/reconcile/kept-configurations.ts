// Plexus' own configuration as the runtime last gave it, kept for what no runtime asks for: a reconciler must know grants, limits
// and directories before the first call after a reboot, and can't see the runtime's own files.

import { join } from "node:path";
import { runtimeKeys } from "../../src/configuration/keys.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import { editMembers, parseDocument } from "../../src/json/document.ts";
import { checkNetworkName } from "../../src/cni/names.ts";
import { storeFault, writeDurably } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { readRegularFile } from "../files/regular-file.ts";

/** As much as is read from stdin. */
const own = { most: 8 * 1024 * 1024, foreign: false } as const;

/** What pods have of their own is not part of it. */
const perCall: ReadonlyMap<string, undefined> = new Map(runtimeKeys.map((key) => [key, undefined]));

/** Of one state directory: a file for each name of a configuration. */
export class KeptConfigurations {
  readonly directory: string;
  readonly #written = new Map<string, string>();

  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, "configurations");
  }

  /** Keeps a configuration under its name, durably; written where it isn't so already. Fault STORE_FAILED. */
  keep(name: string, stdin: string): Result<void> {
    const document = parseDocument(stdin, { what: "network configuration on stdin" });
    const path = this.#pathOf(name);
    if (!document.ok) return document;
    if (!path.ok) return path;
    const text = editMembers(document.value, perCall);
    const before = this.#written.get(name) ?? this.#textOf(path.value);
    if (before !== text) {
      const written = writeDurably(path.value, text);
      if (!written.ok) return written;
    }
    this.#written.set(name, text);
    return ok(undefined);
  }

  /** What was kept under this name; undefined: nothing was. Faults: STORE_FAILED, CONFIG_INVALID of the name. */
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
      return ok(readRegularFile(path, own));
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok(undefined) : { ok: false, fault: storeFault("reading", path, error) };
    }
  }

  #pathOf(name: string): Result<string> {
    const checked = checkNetworkName(name);
    return checked.ok ? ok(join(this.directory, name)) : checked;
  }
}
