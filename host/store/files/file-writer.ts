// The writer of Plexus' own files as its users see it, its writes that only reach the page cache (background-writer.ts), and the decision whether the event loop may wait
// for the file system, or must leave the operation to libuv's threads.

import { closeSync, constants, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { ok, failed, type Result } from "../../../src/fault/result.ts";
import { clearPlace, removeQuietly, storeFault, temporaryOf } from "./durable-file.ts";
import { errnoOf } from "./errno.ts";
import { makeDirectory } from "./make-directory.ts";
import type { RecycledFiles } from "./recycled-files.ts";
import { openMade } from "./shared-with-root.ts";
import { monotonicMs } from "../../system/clock.ts";

/** A file that was just written and is open for appends. No other writer may append to it meanwhile. */
export interface OpenFile {
  /**
   * Syncs the first content if the write is `durable`; resolves when that content survives a power loss. Further calls share the first
   * sync. The caller decides when to start: a sync competes with the call's steps for the CPU. Fault STORE_FAILED; never rejects.
   */
  readonly sync: () => Promise<Result<void>>;
  /** Appends whole lines, in the order of the calls; they are not synced. Fault STORE_FAILED. */
  readonly append: (lines: string) => Promise<Result<void>>;
  /** Closes the file after its pending appends and sync; call it once. */
  readonly close: () => Promise<void>;
}

/** The rules of one file. */
export interface WriteRules {
  /** Maximum size of the file in bytes, appends included. */
  readonly maxBytes: number;
  /**
   * Whether the file survives a power loss after its `sync`. The file gets its name first; then file and directory are synced together,
   * in one commit of the file system. A power loss before that may leave the file empty or with a recycled file's old content.
   */
  readonly durable: boolean;
}

/** Writes and removes files. Faults: STORE_FAILED. */
export interface FileWriter {
  /**
   * Replaces `path` by `content` through a temporary file (mode 0600, directory 0700): a crash leaves the old content or the new one.
   * Resolves when the file has its name.
   */
  readonly replace: (path: string, content: string, rules: WriteRules) => Promise<Result<OpenFile>>;
  /** Removes a file and the temporary file of an interrupted write. A missing file counts as removed. */
  readonly remove: (path: string) => Promise<Result<void>>;
}

/** `O_EXCL`: a crash may have left a file there, or another process may have put a link or a pipe there. */
export const newFileFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;

/** As `FileWriter.replace`, blocking, without a sync, and with a recycled file if possible. Answers the descriptor, at its end, and the size in bytes. */
export function replaceSync(
  path: string,
  content: string,
  recycledFiles?: RecycledFiles,
): Result<{ readonly file: number; readonly size: number }> {
  const temporary = temporaryOf(path);
  let file: number | undefined;
  try {
    const recycledFile = recycledFiles?.take(temporary);
    file = recycledFile?.file ?? openNew(temporary);
    const bytes = Buffer.from(content);
    writeAllSync(file, bytes);
    recycledFile?.endAt(bytes.length);
    renameSync(temporary, path);
    return ok({ file, size: bytes.length });
  } catch (error) {
    if (file !== undefined) closeSync(file);
    removeQuietly(temporary);
    return failed(storeFault("writing", path, error));
  }
}

/** Writes all bytes at the descriptor's position. Throws the system's error. */
export function writeAllSync(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}

function openNew(path: string): number {
  try {
    return openMade(path, newFileFlags, 0o600);
  } catch (error) {
    prepareForNewFile(path, error);
    return openMade(path, newFileFlags, 0o600);
  }
}

/** Removes the cause of the failed open of a new file: an existing file, or the missing directory. Throws any other `error`. */
export function prepareForNewFile(path: string, error: unknown): void {
  const errno = errnoOf(error);
  if (errno === "EEXIST") clearPlace(path);
  else if (errno === "ENOENT") makeDirectory(dirname(path));
  else throw error;
}

/** The end of a file that lines are appended to: the file's size, and whether the last append is incomplete. */
export class Tail {
  readonly #path: string;
  readonly #maxBytes: number;
  #size: number;
  #torn = false;

  constructor(path: string, size: number, maxBytes: number) {
    this.#path = path;
    this.#size = size;
    this.#maxBytes = maxBytes;
  }

  /** The bytes to write for `lines`. After an incomplete append they begin with a line feed, which ends the torn line. */
  begin(lines: string): Result<Buffer> {
    const bytes = Buffer.from(this.#torn ? `\n${lines}` : lines);
    if (this.#size + bytes.length <= this.#maxBytes) {
      this.#torn = true;
      return ok(bytes);
    }
    const why = new Error(`the file would have more than ${this.#maxBytes} bytes`);
    return failed(storeFault("appending to", this.#path, why));
  }

  /** Records that all bytes from `begin` are in the file. */
  wrote(bytes: number): Result<void> {
    this.#torn = false;
    this.#size += bytes;
    return ok(undefined);
  }
}

/** Time without operations that block the event loop, in ms. */
const pauseMs = 10_000;

/** Counts slow operations. After `maxSlow` slow ones in a row, operations may not block the event loop for 10 s. */
export class BlockingBudget {
  readonly #maxMs: number;
  readonly #maxSlow: number;
  #slow = 0;
  #pausedUntil = 0;

  /** `maxMs`: a longer operation is slow; 0: no operation may block the event loop. */
  constructor(maxMs: number, maxSlow: number) {
    this.#maxMs = maxMs;
    this.#maxSlow = maxSlow;
  }

  get mayBlock(): boolean {
    return this.#maxMs > 0 && monotonicMs() >= this.#pausedUntil;
  }

  /** Runs a blocking operation and counts it if it was slow. */
  measure<T>(operation: () => T): T {
    const started = monotonicMs();
    try {
      return operation();
    } finally {
      const now = monotonicMs();
      this.#slow = now - started > this.#maxMs ? this.#slow + 1 : 0;
      if (this.#slow >= this.#maxSlow) this.#pausedUntil = now + pauseMs;
    }
  }
}
