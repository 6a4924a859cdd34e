// The file that plexusd writes into the runtime's directory. Files of other programs are never changed.

import type { ConfigDirectory } from "../../../src/cni/config-directory.ts";
import { readMark } from "../../../src/configuration/written-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { configurationFile } from "../../store/files/configuration-directory.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { renamedFrom, writtenBesides } from "./other-files.ts";
import { removeOwnFile, writeOwnFile } from "./own-file.ts";
import { RestorePace } from "./restore-pace.ts";

/** The writer's functions that the file calls. */
interface WrittenFileDeps {
  readonly log: (level: "info" | "warn", text: string) => void;
  /** Called after each attempt to change the file. */
  readonly onChange: (outcome: "written" | "removed" | "failed") => void;
  /** Asks for a look at the directory after `ms`. */
  readonly lookAgain: (ms: number) => void;
}

/** The circumstances of one write. */
interface WriteInit {
  /** The directory as just read. */
  readonly directory: ConfigDirectory;
  /** Path of the default network's file, for the log. */
  readonly network: string;
  /** Whether Plexus is being removed. */
  readonly retired: boolean;
  /** Whether the last look found or wrote the file with the right content. */
  readonly wasWritten: boolean;
}

/** The file of one daemon. */
export class WrittenFile {
  readonly #path: string;
  readonly #deps: WrittenFileDeps;
  readonly #pace = new RestorePace();
  /** Whether this daemon's file should be there, so that its absence is another program's doing. */
  #expected = false;

  constructor(path: string, deps: WrittenFileDeps) {
    this.#path = path;
    this.#deps = deps;
  }

  /** Writes the text unless the file has it. Answers the fault that prevents that. */
  async write(text: string, { directory, network, retired, wasWritten }: WriteInit): Promise<Fault | undefined> {
    const current = this.read();
    if (!current.ok) return current.fault;
    if (current.value === text) {
      this.#expected = true;
      await this.#removeOthers(directory);
      return undefined;
    }
    if (current.value !== undefined && readMark(current.value) === undefined)
      return fault("CNI_FILE_FOREIGN", `${this.#path} exists, and plexusd did not write it`);
    const displaced = current.value === undefined && this.#expected ? this.#displaced(directory, wasWritten) : undefined;
    if (displaced !== undefined) return displaced;
    const replaced = await writeOwnFile(this.#path, text, current.value !== undefined);
    this.#deps.onChange(replaced.ok ? "written" : "failed");
    if (!replaced.ok) return replaced.fault;
    this.#expected = true;
    const only = retired ? ", and no other network, because Plexus is being removed" : "";
    this.#deps.log("info", `wrote ${this.#path}: the default network is that of ${network}${only}`);
    await this.#removeOthers(directory);
    return undefined;
  }

  /** The file is gone, and not by this daemon: undefined if it may be written again now. */
  #displaced(directory: ConfigDirectory, wasWritten: boolean): Fault | undefined {
    const now = performance.now();
    // Each removal counts once: the file is not there, nor expected, until it is written again.
    if (wasWritten) {
      this.#pace.removed(now);
      this.#deps.log("warn", `${this.#path} was removed or renamed by another program`);
    }
    const waitMs = this.#pace.waitMs(now);
    if (waitMs === 0) return undefined;
    this.#deps.lookAgain(waitMs);
    const renamed = renamedFrom(directory, this.#path);
    const where = renamed.length === 0 ? "" : ` (found ${renamed.join(", ")})`;
    const when = `; the next attempt is in ${Math.ceil(waitMs / 60_000)} min`;
    return fault("CNI_FILE_DISPLACED", `another program keeps removing or renaming ${this.#path}${where}${when}`);
  }

  /** Removes files of plexusd under other names, from an earlier `--cni-config-name`. */
  async #removeOthers(directory: ConfigDirectory): Promise<void> {
    for (const path of writtenBesides(directory, this.#path)) {
      const removed = await removeOwnFile(path);
      if (removed.ok) this.#deps.log("info", `removed ${path}, which plexusd wrote before`);
      else this.#deps.log("warn", removed.fault.msg);
    }
  }

  /** Removes the file if plexusd wrote it. */
  async remove(): Promise<Result<void>> {
    this.#expected = false;
    const current = this.read();
    if (!current.ok) return current;
    if (current.value === undefined || readMark(current.value) === undefined) return ok(undefined);
    const removed = await removeOwnFile(this.#path);
    this.#deps.onChange(removed.ok ? "removed" : "failed");
    if (removed.ok) this.#deps.log("info", `removed ${this.#path}`);
    return removed;
  }

  /** The file's text; undefined if there is none. */
  read(): Result<string | undefined> {
    try {
      return ok(readRegularFile(this.#path, configurationFile));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return ok(undefined);
      const why = error instanceof Error ? error.message : String(error);
      return failed(fault("CNI_FILE_FOREIGN", `${this.#path} cannot be read: ${why}`));
    }
  }
}
