// Keeps Plexus' own configuration as the runtime last passed it. The reconciler needs its grants, limits and directories before the first
// call after a reboot, and the daemon cannot read the runtime's files.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { checkNetworkName } from "../../../src/cni/attachment.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { runtimeKeys } from "../../../src/configuration/keys.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { editMembers, parseDocument } from "../../../src/json/document.ts";
import { readCallConfiguration } from "../../engine/call/read-configuration.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { writeShared } from "../../store/files/shared-file.ts";

/** The same limit as for stdin. */
const readOptions = { maxBytes: 8 * 1024 * 1024, foreign: false } as const;

/** Keys that belong to one call or pod: they are removed. */
const keysPerCall: ReadonlyMap<string, undefined> = new Map(runtimeKeys.map((key) => [key, undefined]));

/** The configurations of one state directory: one file for each configuration name. */
export class KeptConfigurations {
  readonly stateDirectory: string;
  readonly directory: string;
  readonly #written = new Map<string, string>();
  readonly #parsed = new Map<string, { readonly configuration: HostConfiguration | undefined }>();

  constructor(stateDirectory: string) {
    this.stateDirectory = stateDirectory;
    this.directory = join(stateDirectory, "configurations");
  }

  /** Stores a configuration under its name, durably. Writes only if the file's content differs; answers whether. Fault STORE_FAILED. */
  keep(name: string, stdin: string): Result<boolean> {
    const document = parseDocument(stdin, { what: "network configuration on stdin" });
    const path = this.#pathOf(name);
    if (!document.ok) return document;
    if (!path.ok) return path;
    const text = editMembers(document.value, keysPerCall);
    const isChanged = (this.#written.get(name) ?? this.#textOf(path.value)) !== text;
    const written = isChanged ? writeShared(path.value, text) : ok(undefined);
    if (!written.ok) return written;
    this.#written.set(name, text);
    if (isChanged) this.#parsed.delete(name);
    return ok(isChanged);
  }

  /** The configuration stored under this name; undefined if there is none. Faults: STORE_FAILED; CONFIG_INVALID for an invalid name. */
  load(name: string): Result<string | undefined> {
    const path = this.#pathOf(name);
    return path.ok ? this.#read(path.value) : path;
  }

  /** Forgets what `read` has answered: a configuration's file (`configFile`) may have changed. */
  forget(): void {
    this.#parsed.clear();
  }

  /** The configuration as a call's; undefined if there is none, or if it can't be read. The answer is kept until `forget`. */
  read(name: string): HostConfiguration | undefined {
    const known = this.#parsed.get(name);
    if (known !== undefined) return known.configuration;
    const read = this.#parse(name);
    this.#parsed.set(name, { configuration: read });
    return read;
  }

  #parse(name: string): HostConfiguration | undefined {
    const text = this.load(name);
    if (!text.ok || text.value === undefined) return undefined;
    const document = parseDocument(text.value, { what: `configuration ${name}` });
    // A DEL tolerates more than an ADD: the attachments of a configuration that is wrong by now are looked after, too.
    const read = document.ok ? readCallConfiguration({ verb: "DEL", path: "" }, document.value) : document;
    return read.ok ? read.value.configuration : undefined;
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

/** Maximum configurations that are looked at: a node has one or two. */
const maxConfigurations = 64;

/**
 * The kept configurations of a state directory that switch something on, for a daemon that starts before the first call of the runtime. A file that cannot
 * be read counts as none: the next call of the runtime replaces it.
 */
export function keptConfigurationsWith(
  stateDirectory: string,
  isOn: (configuration: HostConfiguration) => boolean,
): readonly HostConfiguration[] {
  const kept = new KeptConfigurations(stateDirectory);
  return namesIn(kept.directory).flatMap((name): HostConfiguration[] => {
    const text = kept.load(name);
    if (!text.ok || text.value === undefined) return [];
    const document = parseDocument(text.value, { what: `configuration ${name}` });
    const read = document.ok ? readCallConfiguration({ verb: "DEL", path: "" }, document.value) : document;
    return read.ok && isOn(read.value.configuration) ? [read.value.configuration] : [];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !name.startsWith("."))
      .slice(0, maxConfigurations);
  } catch {
    return [];
  }
}
