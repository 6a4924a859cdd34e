// The journal: one file for each call of the runtime, written before the first step runs. The plan is written durably, which is waited for
// before the call is answered; what follows are appended lines, so that progress costs one write.

import { lstatSync, readdirSync } from "node:fs";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { storeFault, removeFile, writeDurably } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { type FileWriter, writingNow } from "../files/file-writer.ts";
import type { JournalEntry, JournalPlan, JournalRecord } from "./entry.ts";
import {
  appendRecord,
  entryText,
  fileNameOf,
  keyOfFileName,
  longestEntry,
  readEntry,
  recordText,
  type EntryKeeper,
  type JournalKey,
} from "./entry-file.ts";

/** Longest file name that Linux file systems take, less what a temporary file's or a left-behind entry's has in front. */
const longestName = 255 - "999@".length;

/** Bytes. Half of what is read again, so that the results of its attachments find room, too. */
const longestPlan = longestEntry / 2;

/** The entry of an ADD that is under way. */
export interface OpenEntry {
  /**
   * Begins to put the plan on the disk, where that hasn't begun yet; answers once it survives a power loss: nobody may count on what it
   * says before. Fault STORE_FAILED; never rejects.
   */
  readonly sync: () => Promise<Result<void>>;
  /** Appends progress, in the order of the calls. Not synced: losing it makes an undo more thorough, never less. */
  readonly append: (record: JournalRecord) => Promise<Result<void>>;
  /** Once. */
  readonly close: () => Promise<void>;
}

export class Journal {
  readonly directory: string;
  readonly #writer: FileWriter;

  /** `stateDirectory` is made when it is first written to. */
  constructor(stateDirectory: string, writer: FileWriter = writingNow) {
    this.directory = `${stateDirectory}/journal`;
    this.#writer = writer;
  }

  /** Whether a call's names fit into a file's; ADD is refused otherwise. */
  canHold(key: JournalKey): boolean {
    return Buffer.byteLength(fileNameOf(key)) <= longestName;
  }

  /** Writes the plan, and what is known of it already, durably; nothing may be attempted before this answers. */
  begin(plan: JournalPlan, records: readonly JournalRecord[] = []): Result<void> {
    const text = this.#textOf(plan, records);
    return text.ok ? writeDurably(this.pathOf(plan), text.value) : text;
  }

  /**
   * Writes the plan, and what is known of it already, where whoever comes after a crash finds it; nothing may be attempted before this
   * answers. The entry stays open for what becomes of it. The caller holds the container's lock until it is closed.
   */
  async open(plan: JournalPlan, records: readonly JournalRecord[] = []): Promise<Result<OpenEntry>> {
    const text = this.#textOf(plan, records);
    if (!text.ok) return text;
    const file = await this.#writer.replace(this.pathOf(plan), text.value, { most: longestEntry, durable: true });
    if (!file.ok) return file;
    const { append, close, sync } = file.value;
    return ok({ sync, append: (record) => append(recordText(record)), close });
  }

  #textOf(plan: JournalPlan, records: readonly JournalRecord[]): Result<string> {
    if (!this.canHold(plan)) {
      const why = `CNI_CONTAINERID ${plan.containerId} with network ${plan.network} is too long to journal`;
      return failed(fault("ENVIRONMENT_INVALID", why));
    }
    const text = entryText(plan, records);
    const bytes = Buffer.byteLength(text);
    if (bytes <= longestPlan) return ok(text);
    return failed(fault("CONFIG_INVALID", `the pod's configurations have ${bytes} bytes; at most ${longestPlan} are journalled`));
  }

  append(key: JournalKey, record: JournalRecord): Result<void> {
    return appendRecord(this.pathOf(key), record);
  }

  /** The entry of a call; undefined if there is none. */
  load(key: JournalKey): Result<JournalEntry | undefined> {
    // Of a key that can't be a name nothing was ever begun. Looked at first: most calls find none, and a thrown ENOENT costs more.
    return this.canHold(key) && this.#isThere(key) ? readEntry(this.pathOf(key), key) : ok(undefined);
  }

  /** Keys of all entries, in the order of their names. */
  list(): Result<readonly JournalKey[]> {
    try {
      return ok(
        readdirSync(this.directory)
          .toSorted()
          .flatMap((name) => keyOfFileName(name) ?? []),
      );
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok([]) : failed(storeFault("listing", this.directory, error));
    }
  }

  #isThere(key: JournalKey): boolean {
    try {
      return lstatSync(this.pathOf(key), { throwIfNoEntry: false }) !== undefined;
    } catch {
      // Reading it says why.
      return true;
    }
  }

  /** Forgets a call: all that it attempted is undone. */
  remove(key: JournalKey): Result<void> {
    return this.canHold(key) ? removeFile(this.pathOf(key)) : ok(undefined);
  }

  /** As `remove`, without holding up other calls. */
  async forget(key: JournalKey): Promise<Result<void>> {
    return this.canHold(key) ? this.#writer.remove(this.pathOf(key)) : ok(undefined);
  }

  keeper(key: JournalKey): EntryKeeper {
    return { append: (record) => this.append(key, record), remove: () => this.forget(key) };
  }

  /** The path of a call's entry, whether there is one or not. */
  pathOf(key: JournalKey): string {
    return `${this.directory}/${fileNameOf(key)}`;
  }
}
