// Writing files without holding up the event loop: every call that may wait for a disk is made on libuv's threads.
//
// What is synced, and why: the plan of an ADD, before its first step runs, because after a power loss what was attached must still be
// known. The file gets its name, then file and directory are synced at the same time, which is one commit of the file system's own
// journal; a directory is synced once for all who wait for it (group commit). Nothing else is: what follows in a journal entry makes an
// undo shorter, never possible, and the cache is what others read.
//
// A call that is the only one is the exception: each turn of a thread costs it some 30 us, and there is nobody whom a sync of 0.3 ms
// could hold up. Where the disk takes longer than that, it is left to the threads for a while.

import { close, closeSync, fsync, open, openSync, rename, unlink, write } from "node:fs";
import { dirname } from "node:path";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { errnoOf, storeFault, temporaryOf } from "../files/durable-file.ts";
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

type Done<T> = (error: Error | null, value?: T) => void;

// Callbacks rather than node:fs/promises: its file handles cost more than what is written here.
function done<T>(begin: (callback: Done<T>) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    begin((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}

/** What a disk says at a file's end (EIO, EDQUOT) concerns lines that need not be durable; without a callback Node would throw it. */
const ignore = (): void => undefined;

/** Milliseconds that one write may hold up whoever comes meanwhile; a disk that took longer isn't waited for so soon again. */
const patienceMs = 2;
const distrustMs = 10_000;

/** A writer whose directories are synced together. `isAlone` says whether the call that writes is the only one. */
export function backgroundWriter(isAlone: () => boolean = () => false): FileWriter {
  const directories = new Map<string, DirectorySync>();
  let distrustedUntil = 0;
  const mayWait = (): boolean => isAlone() && performance.now() >= distrustedUntil;

  const atOnce = async (path: string, content: string, rules: WriteRules): Promise<Result<OpenFile>> => {
    const started = performance.now();
    const written = replaceNow(path, content, rules);
    const now = performance.now();
    if (now - started > patienceMs) distrustedUntil = now + distrustMs;
    if (!written.ok) return written;
    return ok(appending({ ...written.value, path, most: rules.most, mayWait }));
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
      const { most, durable } = rules;
      if (durable && mayWait()) return atOnce(path, content, rules);
      const temporary = temporaryOf(path);
      let file: number | undefined;
      let name = temporary;
      try {
        file = await openNew(temporary);
        const bytes = Buffer.from(content);
        await writeAll(file, bytes);
        await done((end) => rename(temporary, path, end));
        name = path;
        if (durable) await Promise.all([done((end) => fsync(file ?? -1, end)), syncDirectory(dirname(path))]);
        return ok(appending({ path, file, size: bytes.length, most, mayWait }));
      } catch (error) {
        if (file !== undefined) close(file, ignore);
        await removed(name);
        return failed(storeFault("writing", path, error));
      }
    },
    async remove(path) {
      const [torn, whole] = await Promise.all([removed(temporaryOf(path)), removed(path)]);
      return torn.ok ? whole : torn;
    },
  };
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
  readonly mayWait: () => boolean;
}

function appending({ path, file, size, most, mayWait }: AppendingInit): OpenFile {
  const tail = new Tail(path, size, most);
  // One after the other: two threads would keep no order.
  let last: Promise<unknown> = Promise.resolve();
  const append = async (before: Promise<unknown>, lines: string): Promise<Result<void>> => {
    await before;
    const bytes = tail.begin(lines);
    if (!bytes.ok) return bytes;
    try {
      if (mayWait()) writeAllNow(file, bytes.value);
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
      close(file, ignore);
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
