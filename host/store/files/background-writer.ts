// Writes the files of an engine without blocking its event loop on a disk.
//
// Only the plan of an ADD is synced: attachments must still be known after a power loss. The plan's file has its name before the first
// step runs, so that an engine that starts after a crash finds it. The plan is on the disk before a network is attached that only the plan
// names, and before the runtime gets its answer; the default network's steps do not wait for the disk. File and directory are synced
// at the same time, which is one commit of the file system's journal. Concurrent writers share the sync of a directory (group commit).
// Nothing else is synced. Later lines of a journal entry only make an undo shorter. Plexus does not rely on the result cache.
//
// Each operation on libuv's threads costs its call some 30 us and the event loop as much, and a file needs several. A write that only
// reaches the page cache takes a tenth of that. Such writes are therefore made on the event loop's thread, and only syncs go to libuv's
// threads. If the page cache is slow, the writes also go to the threads for a while.

import { close, closeSync, fsync, open, openSync, rename, unlink, write } from "node:fs";
import { dirname } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { countsAsRemoved, removeFile, storeFault, temporaryOf } from "./durable-file.ts";
import {
  type FileWriter,
  prepareForNewFile,
  newFileFlags,
  type OpenFile,
  replaceSync,
  Tail,
  writeAllSync,
  BlockingBudget,
} from "./file-writer.ts";
import type { RecycledFiles } from "./recycled-files.ts";
import { modeIn, shareFile } from "./shared-with-root.ts";

type Done<T> = (error: Error | null, value?: T) => void;

// Callbacks, because the file handles of node:fs/promises cost more than the writes themselves.
function done<T>(begin: (callback: Done<T>) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    begin((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}

/** An error of close(2) (EIO, EDQUOT) concerns lines that need not be durable. Without a callback Node would throw the error. */
const ignore = (): void => undefined;

function closeQuietly(file: number): void {
  try {
    closeSync(file);
  } catch {
    // See `ignore`.
  }
}

const privateMode = 0o600;
/** Milliseconds that a write may block the event loop. */
const defaultMaxBlockMs = 10;
/** This many slow writes in a row move the writes to the threads: a single slow write may mean that the machine was busy. */
const maxSlowWrites = 3;

/**
 * A writer for an engine: writes block the event loop only briefly, and concurrent writes to a directory share its sync. `maxBlockMs`:
 * milliseconds that a write may block the event loop; 0: every write runs on libuv's threads. `recycledFiles`: keeps removed files for reuse;
 * by default removed files are not kept.
 */
export function backgroundWriter(maxBlockMs: number = defaultMaxBlockMs, recycledFiles?: RecycledFiles): FileWriter {
  const directories = new Map<string, DirectorySync>();
  const budget = new BlockingBudget(maxBlockMs, maxSlowWrites);

  const syncDirectory = async (path: string): Promise<void> => {
    let sync = directories.get(path);
    if (sync === undefined) {
      sync = new DirectorySync(path);
      directories.set(path, sync);
    }
    await sync.now();
    if (sync.isIdle && directories.get(path) === sync) directories.delete(path);
  };

  const sync = async (path: string, file: number): Promise<Result<void>> => {
    try {
      await Promise.all([done((end) => fsync(file, end)), syncDirectory(dirname(path))]);
      return ok(undefined);
    } catch (error) {
      return failed(storeFault("writing", path, error));
    }
  };

  return {
    async replace(path, content, { maxBytes, durable }) {
      const written = budget.mayBlock
        ? budget.measure(() => replaceSync(path, content, recycledFiles))
        : await writeInThreads(path, content);
      if (!written.ok) return written;
      const { file, size } = written.value;
      const begin = durable ? () => sync(path, file) : async () => ok(undefined);
      return ok(appending({ path, file, size, maxBytes, budget, sync: begin }));
    },
    async remove(path) {
      if (budget.mayBlock) return budget.measure(() => removeFile(path, recycledFiles));
      const [torn, whole] = await Promise.all([removeInThreads(temporaryOf(path), true), removeInThreads(path)]);
      return torn.ok ? whole : torn;
    },
  };
}

interface Written {
  readonly file: number;
  readonly size: number;
}

async function writeInThreads(path: string, content: string): Promise<Result<Written>> {
  const temporary = temporaryOf(path);
  let file: number | undefined;
  try {
    file = await openNew(temporary);
    const bytes = Buffer.from(content);
    await writeAll(file, bytes);
    await done((end) => rename(temporary, path, end));
    return ok({ file, size: bytes.length });
  } catch (error) {
    if (file !== undefined) close(file, ignore);
    await removeInThreads(temporary);
    return failed(storeFault("writing", path, error));
  }
}

async function openNew(path: string): Promise<number> {
  try {
    return await openOnce(path);
  } catch (error) {
    prepareForNewFile(path, error);
    return openOnce(path);
  }
}

async function openOnce(path: string): Promise<number> {
  const file = (await done<number>((end) => open(path, newFileFlags, privateMode, end))) ?? -1;
  const mode = modeIn(dirname(path), privateMode);
  if (mode !== privateMode) shareFile(file, mode);
  return file;
}

async function writeAll(file: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const from = at;
    at += (await done<number>((end) => write(file, bytes, from, bytes.length - from, null, end))) ?? 0;
  }
}

async function removeInThreads(path: string, temporary = false): Promise<Result<void>> {
  try {
    await done((end) => unlink(path, end));
    return ok(undefined);
  } catch (error) {
    return countsAsRemoved(error, temporary) ? ok(undefined) : failed(storeFault("removing", path, error));
  }
}

interface AppendedFile {
  readonly path: string;
  readonly file: number;
  readonly size: number;
  readonly maxBytes: number;
  readonly budget: BlockingBudget;
  readonly sync: () => Promise<Result<void>>;
}

function appending({ path, file, size, maxBytes, budget, sync }: AppendedFile): OpenFile {
  let synced: Promise<Result<void>> | undefined;
  const tail = new Tail(path, size, maxBytes);
  // Appends run one after the other, because two threads would not keep their order.
  let last: Promise<unknown> = Promise.resolve();
  const append = async (before: Promise<unknown>, lines: string): Promise<Result<void>> => {
    await before;
    const bytes = tail.begin(lines);
    if (!bytes.ok) return bytes;
    try {
      if (budget.mayBlock) budget.measure(() => writeAllSync(file, bytes.value));
      else await writeAll(file, bytes.value);
      return tail.wrote(bytes.value.length);
    } catch (error) {
      return failed(storeFault("appending to", path, error));
    }
  };
  return {
    sync: () => (synced ??= sync()),
    append(lines) {
      const appended = append(last, lines);
      last = appended;
      return appended;
    },
    async close() {
      // After the close the descriptor may belong to another file, so a later sync must not use it.
      synced ??= Promise.resolve(failed(storeFault("syncing", path, new Error("the file is already closed"))));
      await Promise.all([last, synced]);
      if (budget.mayBlock) budget.measure(() => closeQuietly(file));
      else close(file, ignore);
    },
  };
}

/** Syncs a directory for several callers. A caller that arrives during a sync gets the next sync: the running one may miss its file. */
export class DirectorySync {
  readonly #path: string;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Resolves when the directory's present entries survive a power loss; rejects with the system's error. */
  now(): Promise<void> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    const running = this.#sync().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #sync(): Promise<void> {
    // A directory that was just written to is in memory, so openSync does not wait for the disk.
    const directory = openSync(this.#path, "r");
    try {
      await done((end) => fsync(directory, end));
    } finally {
      closeSync(directory);
    }
  }
}
