// The journal: one file for each call of the runtime, written before the first step. The plan is written durably before the call
// is answered. Later lines are only appended, so that progress costs one write.

import { lstatSync, readdirSync } from "node:fs";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault, removeFile, writeDurably } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { backgroundWriter } from "../files/background-writer.ts";
import type { FileWriter } from "../files/file-writer.ts";
import type { JournalEntry, JournalPlan, JournalRecord } from "./entry.ts";
import {
  appendRecord,
  entryText,
  fileNameOf,
  keyOfFileName,
  maxEntryBytes,
  readEntry,
  recordText,
  type EntryKeeper,
  type JournalKey,
} from "./entry-file.ts";

/** NAME_MAX, less the prefix of a temporary file or an abandoned entry. */
const maxNameBytes = 255 - "999@".length;

/** Bytes: half of the readable size, so that the attachments' results fit in, too. */
const maxPlanBytes = maxEntryBytes / 2;

/** The entry of an ADD in progress. */
export interface OpenEntry {
  /**
   * Starts writing the plan to the disk, unless that was started already; answers when the plan survives a power loss. Until then
   * no caller may rely on it. Fault STORE_FAILED; never rejects.
   */
  readonly sync: () => Promise<Result<void>>;
  /** Appends progress, in the order of the calls. Not synced: losing it makes an undo more thorough, never less. */
  readonly append: (record: JournalRecord) => Promise<Result<void>>;
  /** Closes the file; call it once. */
  readonly close: () => Promise<void>;
}

/** Reads the entries of a journal. */
export interface JournalReader {
  /** The keys of all entries. Fault STORE_FAILED. */
  list(): Result<readonly JournalKey[]>;
  /** An entry; undefined if there is none. Faults JOURNAL_UNREADABLE, STORE_FAILED. */
  load(key: JournalKey): Result<JournalEntry | undefined>;
}

/** The journal in a state directory. */
export class Journal implements JournalReader {
  readonly directory: string;
  readonly #writer: FileWriter;

  /** `stateDirectory` is created by the first write. */
  constructor(stateDirectory: string, writer: FileWriter = backgroundWriter()) {
    this.directory = `${stateDirectory}/journal`;
    this.#writer = writer;
  }

  /** Whether a call's names fit into a file name; if not, ADD is refused. */
  canHold(key: JournalKey): boolean {
    return Buffer.byteLength(fileNameOf(key)) <= maxNameBytes;
  }

  /** Writes the plan and its known progress durably; no attachment may be attempted before this returns. */
  begin(plan: JournalPlan, records: readonly JournalRecord[] = []): Result<void> {
    const text = this.#textOf(plan, records);
    return text.ok ? writeDurably(this.pathOf(plan), text.value) : text;
  }

  /**
   * Writes the plan and its known progress, so that a reader after a crash of the engine finds it; no attachment may be attempted
   * before this answers. The entry stays open for its progress. The caller holds the container's lock until the entry is closed.
   */
  async open(plan: JournalPlan, records: readonly JournalRecord[] = []): Promise<Result<OpenEntry>> {
    const text = this.#textOf(plan, records);
    if (!text.ok) return text;
    const file = await this.#writer.replace(this.pathOf(plan), text.value, { maxBytes: maxEntryBytes, durable: true });
    if (!file.ok) return file;
    const { append, close, sync } = file.value;
    return ok({ sync, append: (record) => append(recordText(record)), close });
  }

  /**
   * Replaces the entry of a completed ADD durably, and opens it for progress. Unlike `open`, a power loss never loses the earlier content: the pod
   * runs. The caller holds the container's lock until the entry is closed.
   */
  async change(plan: JournalPlan, records: readonly JournalRecord[]): Promise<Result<OpenEntry>> {
    const text = this.#textOf(plan, records);
    // Imported here: a one-shot engine never changes an entry, and node:fs/promises loads a dozen modules.
    const { replaceDurably } = await import("../files/replace-durably.ts");
    const written = text.ok ? await replaceDurably(this.pathOf(plan), text.value) : text;
    if (!written.ok) return written;
    return ok({
      sync: async () => ok(undefined),
      append: async (record) => this.append(plan, record),
      close: async () => undefined,
    });
  }

  #textOf(plan: JournalPlan, records: readonly JournalRecord[]): Result<string> {
    if (!this.canHold(plan)) {
      const why = `CNI_CONTAINERID ${plan.containerId} with network ${plan.network} is too long to journal`;
      return failed(fault("ENVIRONMENT_INVALID", why));
    }
    const text = entryText(plan, records);
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxPlanBytes) return ok(text);
    return failed(
      fault("CONFIG_INVALID", `the pod's configurations have ${bytes} bytes; at most ${maxPlanBytes} are journalled`),
    );
  }

  append(key: JournalKey, record: JournalRecord): Result<void> {
    return appendRecord(this.pathOf(key), record);
  }

  /** Reads a call's entry; undefined if there is none. */
  load(key: JournalKey): Result<JournalEntry | undefined> {
    // A key that does not fit into a name has no entry. Existence is checked first: most calls have no entry, and a thrown ENOENT
    // costs more.
    return this.canHold(key) && this.#exists(key) ? readEntry(this.pathOf(key), key) : ok(undefined);
  }

  /** Keys of all entries, sorted by file name. */
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

  #exists(key: JournalKey): boolean {
    try {
      return lstatSync(this.pathOf(key), { throwIfNoEntry: false }) !== undefined;
    } catch {
      // The following read reports the error.
      return true;
    }
  }

  /** Removes a call's entry: all its attempted attachments are undone. */
  remove(key: JournalKey): Result<void> {
    return this.canHold(key) ? removeFile(this.pathOf(key)) : ok(undefined);
  }

  /** Like `remove`, in the background. */
  async forget(key: JournalKey): Promise<Result<void>> {
    return this.canHold(key) ? this.#writer.remove(this.pathOf(key)) : ok(undefined);
  }

  keeper(key: JournalKey): EntryKeeper {
    return { append: (record) => this.append(key, record), remove: () => this.forget(key) };
  }

  /** The path of a call's entry, even if there is none. */
  pathOf(key: JournalKey): string {
    return `${this.directory}/${fileNameOf(key)}`;
  }
}
