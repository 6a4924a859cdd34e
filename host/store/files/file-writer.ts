// Writing files of our own: at once, in a brain that has one call to serve, or without holding up others (host/daemon/background-writer.ts).

import { closeSync, constants, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { ok, failed, type Result } from "../../src/fault/result.ts";
import { removeFile, removeQuietly, storeFault, syncDirectory, temporaryOf } from "./durable-file.ts";
import { errnoOf } from "./errno.ts";
import { makeDirectory } from "./make-directory.ts";
import { endAt, type Spares } from "./spares.ts";

/** A file that was just written, open for more. Nobody else may append to it meanwhile. */
export interface OpenFile {
  /**
   * Begins to make what was written first survive a power loss, where that is wanted and hasn't begun yet; answers when it does. A disk
   * that is told sooner takes the CPU from what goes on meanwhile. Fault STORE_FAILED; never rejects.
   */
  readonly sync: () => Promise<Result<void>>;
  /** Appends whole lines, in the order of the calls; not synced. Fault STORE_FAILED. */
  readonly append: (lines: string) => Promise<Result<void>>;
  /** Once; ends what is under way first. */
  readonly close: () => Promise<void>;
}

export interface WriteRules {
  /** Bytes that the file may grow to. */
  readonly most: number;
  /**
   * Whether it is to survive a power loss, once it is synced. It gets its name first, then file and directory are synced together,
   * which a file system does in one go: a power loss before that may leave it empty, or as a spare file was, so this is for what wasn't
   * there before.
   */
  readonly durable: boolean;
}

/** Faults: STORE_FAILED. */
export interface FileWriter {
  /**
   * Replaces `path` by `content`, by way of a temporary file (mode 0600, directory 0700), so that a crash leaves the old content or
   * the new one. Answers when it has its name.
   */
  readonly replace: (path: string, content: string, rules: WriteRules) => Promise<Result<OpenFile>>;
  /** Removes a file and what an interrupted write left of it; one that isn't there counts as removed. */
  readonly remove: (path: string) => Promise<Result<void>>;
}

/** Made anew: what stands there may be what a crash left, or a link or a pipe that somebody put there. */
export const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;

/** Writes at once, blocking this thread. */
export const writingNow: FileWriter = {
  async replace(path, content, rules) {
    const written = replaceNow(path, content, rules);
    return written.ok ? ok(appending(path, written.value.file, written.value.size, rules.most)) : written;
  },
  remove: async (path) => removeFile(path),
};

/** As `replace` of a writer, into a spare where there is one; answers the open file, whose position is its end, and its length in bytes. */
export function replaceNow(
  path: string,
  content: string,
  { durable }: WriteRules,
  spares?: Spares,
): Result<{ readonly file: number; readonly size: number }> {
  const temporary = temporaryOf(path);
  let file: number | undefined;
  let name = temporary;
  try {
    const spare = spares?.take(temporary);
    file = spare?.file ?? openNew(temporary);
    const bytes = Buffer.from(content);
    writeAllNow(file, bytes);
    if (spare !== undefined) endAt(spare, bytes.length);
    renameSync(temporary, path);
    name = path;
    if (durable) {
      fsyncSync(file);
      syncDirectory(dirname(path));
    }
    return ok({ file, size: bytes.length });
  } catch (error) {
    if (file !== undefined) closeSync(file);
    removeQuietly(name);
    return failed(storeFault("writing", path, error));
  }
}

export function writeAllNow(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}

function openNew(path: string): number {
  try {
    return openSync(path, newFile, 0o600);
  } catch (error) {
    makeWay(path, error);
    return openSync(path, newFile, 0o600);
  }
}

/** Removes what is in the way of a new file, or makes its directory; throws `error` where it is something else. */
export function makeWay(path: string, error: unknown): void {
  const errno = errnoOf(error);
  if (errno === "EEXIST") unlinkSync(path);
  else if (errno === "ENOENT") makeDirectory(dirname(path));
  else throw error;
}

function appending(path: string, file: number, written: number, most: number): OpenFile {
  const tail = new Tail(path, written, most);
  return {
    // Where it is wanted, it is done.
    sync: async () => ok(undefined),
    async append(lines) {
      const bytes = tail.begin(lines);
      if (!bytes.ok) return bytes;
      try {
        writeAllNow(file, bytes.value);
        return tail.wrote(bytes.value.length);
      } catch (error) {
        return failed(storeFault("appending to", path, error));
      }
    },
    close: async () => closeSync(file),
  };
}

/** The end of a file that lines are appended to: how long it is, and whether the last append was torn. */
export class Tail {
  readonly #path: string;
  readonly #most: number;
  #size: number;
  #torn = false;

  constructor(path: string, size: number, most: number) {
    this.#path = path;
    this.#size = size;
    this.#most = most;
  }

  /** The bytes to be written for `lines`: what an earlier append left without its line feed stays a line of its own. */
  begin(lines: string): Result<Buffer> {
    const bytes = Buffer.from(this.#torn ? `\n${lines}` : lines);
    if (this.#size + bytes.length <= this.#most) {
      this.#torn = true;
      return ok(bytes);
    }
    const why = new Error(`${this.#path} would have more than ${this.#most} bytes`);
    return failed(storeFault("appending to", this.#path, why));
  }

  /** So many bytes, all that `begin` gave, are in the file. */
  wrote(bytes: number): Result<void> {
    this.#torn = false;
    this.#size += bytes;
    return ok(undefined);
  }
}
