// Entries whose DEL was given up (RT-07): what they attached may still be there. They are moved out of the journal, so that
// the runtime gets its success, and kept until a later GC has undone them.

import { lstatSync, readdirSync, renameSync } from "node:fs";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { removeFile, storeFault, syncDirectory } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { makeDirectory } from "../files/make-directory.ts";
import type { JournalEntry } from "./entry.ts";
import { appendRecord, fileNameOf, keyOfFileName, readEntry, type EntryKeeper, type JournalKey } from "./entry-file.ts";
import type { Journal } from "./journal.ts";

/** A record's file: a number, because one call may be left behind more than once, then the journal's name. */
export interface LeftBehindFile {
  readonly path: string;
  readonly key: JournalKey;
}

const most = 999;

export class LeftBehind {
  readonly directory: string;

  /** `stateDirectory` is the journal's. */
  constructor(stateDirectory: string) {
    this.directory = `${stateDirectory}/left-behind`;
  }

  /**
   * Moves a call's entry out of the journal, readable or not, durably: at any moment it is in one of both places. The caller
   * holds the container's lock. Answers where it is now.
   */
  take(journal: Journal, key: JournalKey): Result<string> {
    const path = this.#freePath(key);
    if (!path.ok) return path;
    try {
      makeDirectory(this.directory);
      renameSync(journal.pathOf(key), path.value);
      // The new place first: a power loss may show it twice, and never not at all.
      syncDirectory(this.directory);
      syncDirectory(journal.directory);
      return path;
    } catch (error) {
      return failed(storeFault("moving aside", journal.pathOf(key), error));
    }
  }

  /** All of them, in the order of their names; those of one call, where it is given. */
  list(key?: JournalKey): Result<readonly LeftBehindFile[]> {
    try {
      // Most nodes have none, and a thrown ENOENT costs more.
      if (lstatSync(this.directory, { throwIfNoEntry: false }) === undefined) return ok([]);
      const wanted = key === undefined ? undefined : fileNameOf(key);
      const files = readdirSync(this.directory)
        .toSorted()
        .flatMap((name): LeftBehindFile[] => {
          const found = /^\d+@(.+)$/u.exec(name)?.[1] ?? "";
          const of = wanted === undefined || wanted === found ? keyOfFileName(found) : undefined;
          return of === undefined ? [] : [{ path: `${this.directory}/${name}`, key: of }];
        });
      return ok(files);
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok([]) : failed(storeFault("listing", this.directory, error));
    }
  }

  /** Undefined where somebody has removed it meanwhile. Faults: those of the journal. */
  load({ path, key }: LeftBehindFile): Result<JournalEntry | undefined> {
    return readEntry(path, key);
  }

  keeper({ path }: LeftBehindFile): EntryKeeper {
    return { append: (record) => appendRecord(path, record), remove: () => removeFile(path) };
  }

  #freePath(key: JournalKey): Result<string> {
    const taken = this.list(key);
    if (!taken.ok) return taken;
    const paths = new Set(taken.value.map(({ path }) => path));
    for (let number = 1; number <= most; number++) {
      const path = `${this.directory}/${number}@${fileNameOf(key)}`;
      if (!paths.has(path)) return ok(path);
    }
    return failed(storeFault("moving aside an entry to", this.directory, new Error(`it has ${most} of this call already`)));
  }
}
