// The journal: one file for each call of the runtime, written before the first step runs. The plan is written durably; what
// follows are appended lines, so that progress costs one write.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { errnoOf, removeFile, storeFault, writeDurably } from "../files/durable-file.ts";
import type { JournalEntry, JournalPlan, JournalRecord } from "./entry.ts";
import {
  appendRecord,
  entryText,
  fileNameOf,
  keyOfFileName,
  longestEntry,
  readEntry,
  type EntryKeeper,
  type JournalKey,
} from "./entry-file.ts";

/** Longest file name that Linux file systems take, less what a temporary file's or a left-behind entry's has in front. */
const longestName = 255 - "999@".length;

/** Bytes. Half of what is read again, so that the results of its attachments find room, too. */
const longestPlan = longestEntry / 2;

export class Journal {
  readonly directory: string;

  /** `stateDirectory` is made when it is first written to. */
  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, "journal");
  }

  /** Whether a call's names fit into a file's; ADD is refused otherwise. */
  canHold(key: JournalKey): boolean {
    return Buffer.byteLength(fileNameOf(key)) <= longestName;
  }

  /** Writes the plan, and what is known of it already, durably; nothing may be attempted before this answers. */
  begin(plan: JournalPlan, records: readonly JournalRecord[] = []): Result<void> {
    if (this.canHold(plan)) {
      const text = entryText(plan, records);
      const bytes = Buffer.byteLength(text);
      if (bytes <= longestPlan) return writeDurably(this.pathOf(plan), text);
      return failed(
        fault("CONFIG_INVALID", `the pod's configurations have ${bytes} bytes; at most ${longestPlan} are journalled`),
      );
    }
    return failed(
      fault("ENVIRONMENT_INVALID", `CNI_CONTAINERID ${plan.containerId} with network ${plan.network} is too long to journal`),
    );
  }

  append(key: JournalKey, record: JournalRecord): Result<void> {
    return appendRecord(this.pathOf(key), record);
  }

  /** The entry of a call; undefined if there is none. */
  load(key: JournalKey): Result<JournalEntry | undefined> {
    // Of a key that can't be a name nothing was ever begun.
    return this.canHold(key) ? readEntry(this.pathOf(key), key) : ok(undefined);
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

  /** Forgets a call: all that it attempted is undone. */
  remove(key: JournalKey): Result<void> {
    return this.canHold(key) ? removeFile(this.pathOf(key)) : ok(undefined);
  }

  keeper(key: JournalKey): EntryKeeper {
    return { append: (record) => this.append(key, record), remove: () => this.remove(key) };
  }

  /** The path of a call's entry, whether there is one or not. */
  pathOf(key: JournalKey): string {
    return join(this.directory, fileNameOf(key));
  }
}
