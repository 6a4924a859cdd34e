// The journal of a running ADD: its records are written while steps run, and the reply waits for them.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { JournalRecord } from "../../store/journal/entry.ts";
import type { OpenEntry } from "../../store/journal/journal.ts";

/** The plan is written with its first attachment marked as attempted, because that attachment's plugins run next. */
export const firstRecords: readonly JournalRecord[] = [{ attempted: 0 }];

/** The records of a running ADD. They are written while the next step runs, and the reply waits for them. */
export class Progress {
  readonly records: JournalRecord[];
  readonly #entry: OpenEntry;
  readonly #writes: Promise<Result<void>>[] = [];

  /** `written`: the records that the entry was opened with. */
  constructor(entry: OpenEntry, written: readonly JournalRecord[] = firstRecords) {
    this.#entry = entry;
    this.records = [...written];
  }

  /** Syncs the plan to the disk, so that it survives a power loss. */
  syncPlan(): Promise<Result<void>> {
    return this.#entry.sync();
  }

  /** Appends a record. The caller need not wait if a DEL after a crash would do without the record. */
  note(record: JournalRecord): Promise<Result<void>> {
    this.records.push(record);
    const appended = this.#entry.append(record);
    this.#track(appended);
    return appended;
  }

  /** Starts a write in the next turn of the event loop, after the requests of this turn. The reply waits for the write. */
  writeLater(write: () => Promise<Result<void>>): void {
    this.#track(nextTurn().then(write));
  }

  #track(write: Promise<Result<void>>): void {
    // `settled` and `end` handle a rejection. Until then it must not count as unhandled, which would end the daemon.
    write.catch(() => undefined);
    this.#writes.push(write);
  }

  /** Waits until all records are written and the plan is on the disk. The fault is the first of these writes. */
  async settled(): Promise<Result<void>> {
    const all = await Promise.all([this.syncPlan(), ...this.#writes]);
    return all.find((result) => !result.ok) ?? ok(undefined);
  }

  /** Waits for all writes, and closes the entry. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await this.#entry.close();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
