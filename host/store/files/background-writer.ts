// Writing files without holding up the event loop: every call that may wait for a disk is made on libuv's threads.
//
// What is synced, and why: the plan of an ADD, because after a power loss what was attached must still be known. It has its name, so that
// whoever comes after a crash of ours finds it, before the first step runs; and is on the disk before a network is attached that nothing
// but the plan names, and before the runtime is answered: the default network's steps don't wait for a disk. File and directory are synced
// at the same time, which is one commit of the file system's own journal; a directory is synced once for all who wait for it (group
// commit). Nothing else is: what follows in a journal entry makes an undo shorter, never possible, and the cache is what others read.
//
// Each turn of a thread costs a call some 30 us and the event loop as much, several for a file; what goes to the page cache only takes a
// tenth of that. So that is done at once, and what is synced goes to the threads. Where the page cache takes longer, all of it is left to
// the threads for a while.

import { close, closeSync, fsync, open, openSync, rename, unlink, write } from "node:fs";
import { dirname } from "node:path";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { removeFile, storeFault, temporaryOf } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { type FileWriter, makeWay, newFile, type OpenFile, replaceNow, Tail, writeAllNow } from "../files/file-writer.ts";
import type { Spares } from "../files/spares.ts";
import { Patience } from "./patience.ts";

type Done<T> = (error: Error | null, value?: T) => void;

// Callbacks rather than node:fs/promises: its file handles cost more than what is written here.
function done<T>(begin: (callback: Done<T>) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    begin((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}

/** What a disk says at a file's end (EIO, EDQUOT) concerns lines that need not be durable; without a callback Node would throw it. */
const ignore = (): void => undefined;

function closeQuietly(file: number): void {
  try {
    closeSync(file);
  } catch {
    // As where it is ignored.
  }
}

/** Milliseconds that a write may hold up whoever comes meanwhile; a disk that took longer so often isn't waited for so soon again. */
const cachedMs = 10;
/** Once, it may have been the machine that was busy. */
const lateTimes = 3;

export interface BackgroundWriterInit {
  /** What a write may take at once, in ms; 0: all of them are for the threads. */
  readonly patienceMs?: number;
  /** Where what is removed is kept; nowhere unless given. */
  readonly spares?: Spares;
}

/** A writer whose directories are synced together. */
export function backgroundWriter({ patienceMs = cachedMs, spares }: BackgroundWriterInit = {}): FileWriter {
  const directories = new Map<string, DirectorySync>();
  const cached = new Patience(patienceMs, lateTimes);

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
    async replace(path, content, { most, durable }) {
      const written = cached.holds
        ? cached.during(() => replaceNow(path, content, { most, durable: false }, spares))
        : await inThreads(path, content);
      if (!written.ok) return written;
      const { file, size } = written.value;
      const begin = durable ? () => sync(path, file) : async () => ok(undefined);
      return ok(appending({ path, file, size, most, patience: cached, sync: begin }));
    },
    async remove(path) {
      if (cached.holds) return cached.during(() => removeFile(path, spares));
      const [torn, whole] = await Promise.all([removed(temporaryOf(path)), removed(path)]);
      return torn.ok ? whole : torn;
    },
  };
}

interface Written {
  readonly file: number;
  readonly size: number;
}

async function inThreads(path: string, content: string): Promise<Result<Written>> {
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
    await removed(temporary);
    return failed(storeFault("writing", path, error));
  }
}

async function openNew(path: string): Promise<number> {
  const flags = newFile;
  try {
    return (await done<number>((end) => open(path, flags, 0o600, end))) ?? -1;
  } catch (error) {
    makeWay(path, error);
    return (await done<number>((end) => open(path, flags, 0o600, end))) ?? -1;
  }
}

async function writeAll(file: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const from = at;
    at += (await done<number>((end) => write(file, bytes, from, bytes.length - from, null, end))) ?? 0;
  }
}

async function removed(path: string): Promise<Result<void>> {
  try {
    await done((end) => unlink(path, end));
    return ok(undefined);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(storeFault("removing", path, error));
  }
}

interface AppendingInit {
  readonly path: string;
  readonly file: number;
  readonly size: number;
  readonly most: number;
  readonly patience: Patience;
  readonly sync: () => Promise<Result<void>>;
}

function appending({ path, file, size, most, patience, sync }: AppendingInit): OpenFile {
  let synced: Promise<Result<void>> | undefined;
  const tail = new Tail(path, size, most);
  // One after the other: two threads would keep no order.
  let last: Promise<unknown> = Promise.resolve();
  const append = async (before: Promise<unknown>, lines: string): Promise<Result<void>> => {
    await before;
    const bytes = tail.begin(lines);
    if (!bytes.ok) return bytes;
    try {
      if (patience.holds) patience.during(() => writeAllNow(file, bytes.value));
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
      // Its descriptor may be another file's then.
      synced ??= Promise.resolve(failed(storeFault("syncing", path, new Error("it is closed already"))));
      await Promise.all([last, synced]);
      if (patience.holds) patience.during(() => closeQuietly(file));
      else close(file, ignore);
    },
  };
}

/** Syncs a directory for all who ask: who asks while one sync runs gets the next, because that one may have begun too early. */
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

  /** Answers when what is in the directory now survives a power loss; rejects with the system's error. */
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
    // Opening what was just written to waits for no disk.
    const directory = openSync(this.#path, "r");
    try {
      await done((end) => fsync(directory, end));
    } finally {
      closeSync(directory);
    }
  }
}
