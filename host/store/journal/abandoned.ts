// Abandoned entries: journal entries whose DEL was given up (RT-07), and whose attachments may still exist. Such an entry leaves the
// journal, so that the runtime's DEL succeeds. It is kept until its attachments are undone: by a GC, a DEL, an ADD or the reconciler.

import { lstatSync, readdirSync, renameSync } from "node:fs";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { removeFile, storeFault, syncDirectory } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { makeDirectory } from "../files/make-directory.ts";
import type { JournalEntry } from "./entry.ts";
import { appendRecord, fileNameOf, keyOfFileName, readEntry, type EntryKeeper, type JournalKey } from "./entry-file.ts";
import type { Journal } from "./journal.ts";

/** An abandoned entry's file. Its name is `NUMBER@` and the journal entry's name: one call may be abandoned more than once. */
export interface AbandonedFile {
  readonly path: string;
  readonly key: JournalKey;
}

const maxEntriesOfCall = 999;

/** The directory of abandoned entries in a state directory. */
export const abandonedDirectory = "abandoned";

/** The abandoned entries in a state directory. */
export class Abandoned {
  readonly directory: string;

  /** `stateDirectory` is the journal's. */
  constructor(stateDirectory: string) {
    this.directory = `${stateDirectory}/${abandonedDirectory}`;
  }

  /**
   * Moves a call's entry out of the journal, durably; the entry may be unreadable. At any time the entry is in at least one of the
   * two directories. The caller holds the container's lock. Answers the new path. Fault STORE_FAILED.
   */
  take(journal: Journal, key: JournalKey): Result<string> {
    const path = this.#freePath(key);
    if (!path.ok) return path;
    try {
      makeDirectory(this.directory);
      renameSync(journal.pathOf(key), path.value);
      // The new directory first: after a power loss the entry may be in both directories, but it is in at least one.
      syncDirectory(this.directory);
      syncDirectory(journal.directory);
      return path;
    } catch (error) {
      return failed(storeFault("moving the abandoned entry", journal.pathOf(key), error));
    }
  }

  /** The files of all abandoned entries, sorted by name; with `key`, those of one call. */
  list(key?: JournalKey): Result<readonly AbandonedFile[]> {
    const { directory } = this;
    try {
      // Most nodes have no such directory. A thrown ENOENT costs more than this check.
      return ok(lstatSync(directory, { throwIfNoEntry: false }) === undefined ? [] : filesIn(directory, key));
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok([]) : failed(storeFault("listing", directory, error));
    }
  }

  /** Reads an abandoned entry; undefined if it was removed meanwhile. Faults: JOURNAL_UNREADABLE, STORE_FAILED. */
  load({ path, key }: AbandonedFile): Result<JournalEntry | undefined> {
    return readEntry(path, key);
  }

  /** Access to an abandoned entry for the undo of its attachments. */
  keeper({ path }: AbandonedFile): EntryKeeper {
    return { append: (record) => appendRecord(path, record), remove: () => removeFile(path) };
  }

  #freePath(key: JournalKey): Result<string> {
    const taken = this.list(key);
    if (!taken.ok) return taken;
    const paths = new Set(taken.value.map(({ path }) => path));
    for (let number = 1; number <= maxEntriesOfCall; number++) {
      const path = `${this.directory}/${number}@${fileNameOf(key)}`;
      if (!paths.has(path)) return ok(path);
    }
    return failed(
      storeFault(
        "moving an abandoned entry to",
        this.directory,
        new Error(`the directory already has ${maxEntriesOfCall} entries of this call`),
      ),
    );
  }
}

function filesIn(directory: string, key: JournalKey | undefined): readonly AbandonedFile[] {
  const entryName = key === undefined ? undefined : fileNameOf(key);
  return readdirSync(directory)
    .toSorted()
    .flatMap((name): AbandonedFile[] => {
      const found = /^\d+@(.+)$/u.exec(name)?.[1] ?? "";
      const ofName = entryName === undefined || entryName === found ? keyOfFileName(found) : undefined;
      return ofName === undefined ? [] : [{ path: `${directory}/${name}`, key: ofName }];
    });
}
