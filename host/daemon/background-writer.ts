// Writing files without holding up the event loop: every call that may wait for a disk is made on libuv's threads.
//
// What is synced, and why: the plan of an ADD, before its first step runs, because after a power loss what was attached must still be
// known. The file gets its name, then file and directory are synced at the same time, which is one commit of the file system's own
// journal; a directory is synced once for all who wait for it (group commit). Nothing else is: what follows in a journal entry makes an
// undo shorter, never possible, and the cache is what others read.
//
// Each turn of a thread costs a call some 30 us and the event loop as much, several for a file; what goes to the page cache only takes a
// tenth of that. So it is done at once, and what is synced goes to the threads, unless the call is the only one: there is nobody whom a
// sync of 0.3 ms could hold up. Where the disk takes longer than that, all of it is left to the threads for a while.

import { close, closeSync, fsync, open, openSync, rename, unlink, write } from "node:fs";
import { dirname } from "node:path";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { errnoOf, removeFile, storeFault, temporaryOf } from "../files/durable-file.ts";
import {
  type FileWriter,
  makeWay,
  newFile,
  type OpenFile,
  replaceNow,
  Tail,
  writeAllNow,
  type WriteRules,
} from "../files/file-writer.ts";
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

/** Milliseconds that a sync, or what needs none, may hold up whoever comes meanwhile; a disk that took longer isn't waited for so soon again. */
const syncMs = 2;
const cachedMs = 10;
/** Of what needs no sync: once, it may have been the machine that was busy. */
const lateTimes = 3;

export interface BackgroundWriterInit {
  /** Whether the call that writes is the only one; it isn't unless given. */
  readonly isAlone?: () => boolean;
  /** What a write that isn't synced may take at once, in ms; 0: all of them are for the threads. */
  readonly patienceMs?: number;
  /** Where what is removed is kept; nowhere unless given. */
  readonly spares?: Spares;
}

/** A writer whose directories are synced together. */
export function backgroundWriter({
  isAlone = () => false,
  patienceMs = cachedMs,
  spares,
}: BackgroundWriterInit = {}): FileWriter {
  const directories = new Map<string, DirectorySync>();
  const [syncs, cached] = [new Patience(syncMs, 1), new Patience(patienceMs, lateTimes)];

  /** With its sync where nobody else waits; undefined where all of it is for the threads. */
  const atOnce = (path: string, content: string, { most, durable }: WriteRules): Result<Written> | undefined => {
    const synced = durable && isAlone() && syncs.holds;
    if (!synced && !cached.holds) return undefined;
    const written = (synced ? syncs : cached).during(() => replaceNow(path, content, { most, durable: synced }, spares));
    return written.ok ? ok({ ...written.value, synced }) : written;
  };

  const syncDirectory = async (path: string): Promise<void> => {
    let sync = directories.get(path);
    if (sync === undefined) {
      sync = new DirectorySync(path);
      directories.set(path, sync);
    }
    await sync.now();
    if (sync.isIdle && directories.get(path) === sync) directories.delete(path);
  };

  return {
    async replace(path, content, rules) {
      const written = atOnce(path, content, rules) ?? (await inThreads(path, content));
      if (!written.ok) return written;
      const { file, size, synced } = written.value;
      try {
        if (rules.durable && !synced) await Promise.all([done((end) => fsync(file, end)), syncDirectory(dirname(path))]);
        return ok(appending({ path, file, size, most: rules.most, patience: cached }));
      } catch (error) {
        close(file, ignore);
        await removed(path);
        return failed(storeFault("writing", path, error));
      }
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
  readonly synced: boolean;
}

async function inThreads(path: string, content: string): Promise<Result<Written>> {
  const temporary = temporaryOf(path);
  let file: number | undefined;
  try {
    file = await openNew(temporary);
    const bytes = Buffer.from(content);
    await writeAll(file, bytes);
    await done((end) => rename(temporary, path, end));
    return ok({ file, size: bytes.length, synced: false });
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
}

function appending({ path, file, size, most, patience }: AppendingInit): OpenFile {
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
    append(lines) {
      const appended = append(last, lines);
      last = appended;
      return appended;
    },
    async close() {
      await last;
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
