// The file that plexusd writes into the runtime's directory. Files of other programs are never changed.

import type { ConfigDirectory } from "../../../src/cni/config-directory.ts";
import { readWrittenContent, type WrittenContent } from "../../../src/configuration/foreign-steps.ts";
import { isSealed, readMark, sameContent, sealed } from "../../../src/configuration/written-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { configurationFile } from "../../store/files/configuration-directory.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { shortHash } from "../../system/ids.ts";
import { describeEdit, type ForeignEdit } from "./foreign-edit.ts";
import type { StepsDecision } from "./kept-steps.ts";
import { renamedFrom, writtenBesides } from "./other-files.ts";
import type { OwnFiles } from "./own-file.ts";
import { RestorePace } from "./restore-pace.ts";
import type { Clock } from "../../system/clock.ts";

/** The writer's functions that the file calls. */
interface WrittenFileDeps {
  readonly files: OwnFiles;
  readonly clock: Clock;
  readonly log: (level: "info" | "warn", text: string) => void;
  /** Called after each attempt to change the file. */
  readonly onChange: (outcome: "written" | "removed" | "failed") => void;
  /** Requests that the directory is read after `ms`. */
  readonly lookAgain: (ms: number) => void;
  /** Reports another program's edit of the file, which is no problem now. */
  readonly onEdit: (edit: Fault) => void;
}

/** The circumstances of one write. */
interface PendingWrite {
  /** The directory as just read. */
  readonly directory: ConfigDirectory;
  /** Path of the default network's file, for the log. */
  readonly network: string;
  /** Whether Plexus is being removed. */
  readonly retired: boolean;
  /** Whether the last look found or wrote the file with the right content. */
  readonly wasWritten: boolean;
  /** The file as just read; undefined if there is none. */
  readonly current: WrittenText | undefined;
  readonly steps: StepsDecision;
  /** See `NetworkWanted.plexusTypes`. */
  readonly plexusTypes: readonly string[];
}

/** A file of plexusd as read. */
export interface WrittenText {
  readonly text: string;
  /** Undefined if the file has no list of plugins. */
  readonly content: WrittenContent | undefined;
}

/** The file of one daemon. */
export class WrittenFile {
  readonly #path: string;
  readonly #deps: WrittenFileDeps;
  readonly #pace = new RestorePace();
  /** Whether this daemon's file should be there, so that its absence is another program's doing. */
  #expected = false;
  /** The file as this daemon last wrote it or found it right. */
  #accepted: WrittenText | undefined;
  /** The last edit of another program that was reported. */
  #edited: string | undefined;

  constructor(path: string, deps: WrittenFileDeps) {
    this.#path = path;
    this.#deps = deps;
  }

  /** Writes the text unless the file has it. Answers the fault that prevents that. */
  async write(text: string, pending: PendingWrite): Promise<Fault | undefined> {
    const { directory, network, retired, wasWritten, current } = pending;
    if (current !== undefined && readMark(current.text) === undefined)
      return fault("CNI_FILE_FOREIGN", `${this.#path} exists, and plexusd did not write it`);
    const edit = current === undefined ? undefined : this.#editOf(current, pending.steps);
    if (current !== undefined && sameContent(current.text, text)) {
      // Another program may have written it in another form: a rewrite would only call that program again.
      if (edit !== undefined) this.#report(edit, current.text);
      [this.#expected, this.#accepted] = [true, current];
      await this.#removeOthers(directory);
      return undefined;
    }
    const displaced = current === undefined && this.#expected ? this.#displaced(directory, wasWritten) : undefined;
    if (displaced !== undefined) return displaced;
    const contested = current === undefined || edit === undefined ? undefined : this.#contested(current.text, edit);
    if (contested !== undefined) return contested;
    const whole = sealed(text, shortHash);
    const replaced = await this.#deps.files.write(this.#path, whole, current !== undefined, current?.text);
    if (replaced.ok && !replaced.value) {
      this.#deps.lookAgain(0);
      return undefined;
    }
    this.#deps.onChange(replaced.ok ? "written" : "failed");
    if (!replaced.ok) return replaced.fault;
    [this.#expected, this.#accepted] = [true, { text: whole, content: readWrittenContent(whole, pending.plexusTypes) }];
    const only = retired ? ", and no other network, because Plexus is being removed" : "";
    this.#deps.log("info", `wrote ${this.#path}: the default network is that of ${network}${only}`);
    await this.#removeOthers(directory);
    return undefined;
  }

  /** Another program's edit of the file since this daemon last accepted it; undefined if plexusd wrote the file. */
  #editOf(current: WrittenText, steps: StepsDecision): ForeignEdit | undefined {
    if (isSealed(current.text, shortHash)) return undefined;
    if (this.#accepted !== undefined && sameContent(this.#accepted.text, current.text)) return undefined;
    return describeEdit({ path: this.#path, current: current.content, before: this.#accepted?.content, steps });
  }

  /** An edit that plexusd does not leave as it is: undefined if the file may be written now. */
  #contested(current: string, edit: ForeignEdit): Fault | undefined {
    const now = this.#deps.clock.now();
    if (current !== this.#edited && edit.isReverted) this.#pace.changed(now);
    const pauseMs = edit.isReverted ? this.#pace.pauseMs(now) : 0;
    if (pauseMs === 0) {
      this.#report(edit, current);
      this.#edited = undefined;
      return undefined;
    }
    this.#edited = current;
    this.#deps.lookAgain(pauseMs);
    const when = `the next attempt is in ${Math.ceil(pauseMs / 60_000)} min`;
    return { ...edit.fault, msg: `${edit.fault.msg}. The program does so again and again; ${when}` };
  }

  /** Reports an edit once. */
  #report({ fault: edit }: ForeignEdit, text: string): void {
    if (text !== this.#edited) this.#deps.onEdit(edit);
    this.#edited = text;
  }

  /** The file is gone, and not by this daemon: undefined if it may be written again now. */
  #displaced(directory: ConfigDirectory, wasWritten: boolean): Fault | undefined {
    const now = this.#deps.clock.now();
    // Each removal counts once: the file is not there, nor expected, until it is written again.
    if (wasWritten) {
      this.#pace.changed(now);
      this.#deps.log("warn", `${this.#path} was removed or renamed by another program`);
    }
    const pauseMs = this.#pace.pauseMs(now);
    if (pauseMs === 0) return undefined;
    this.#deps.lookAgain(pauseMs);
    const renamed = renamedFrom(directory, this.#path);
    const where = renamed.length === 0 ? "" : ` (found ${renamed.join(", ")})`;
    const when = `; the next attempt is in ${Math.ceil(pauseMs / 60_000)} min`;
    return fault("CNI_FILE_DISPLACED", `another program keeps removing or renaming ${this.#path}${where}${when}`);
  }

  /** Removes files of plexusd under other names, from an earlier `--cni-config-name`. */
  async #removeOthers(directory: ConfigDirectory): Promise<void> {
    for (const path of writtenBesides(directory, this.#path)) {
      const removed = await this.#deps.files.remove(path);
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
    const removed = await this.#deps.files.remove(this.#path);
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
