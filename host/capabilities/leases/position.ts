// The file `last_reserved_ip.SET` beside the leases, as native host-local has it.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { openMade, orAskRoot } from "../../store/files/shared-with-root.ts";
import { hasCode } from "./store-fault.ts";

/** Maximum bytes. A longer file belongs to another program. */
const MAX_CONTENT = 4096;
const FILE_MODE = 0o600;
const READ_WRITE_PLAIN = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE_PLAIN = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A buffer for all reads, which are synchronous. */
const buffer = Buffer.allocUnsafeSlow(MAX_CONTENT + 1);

/** The file with the last reserved address of a range set. It is opened once, read and then written. */
export class Position {
  readonly #path: string;
  #descriptor: number | undefined;
  #length = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The file's text; undefined if it is not readable. The round robin then starts again, as in native host-local. */
  read(): string | undefined {
    try {
      this.#descriptor = orAskRoot(this.#path, () => openSync(this.#path, READ_WRITE_PLAIN));
      this.#length = readSync(this.#descriptor, buffer, 0, buffer.length, 0);
      return this.#length > MAX_CONTENT ? undefined : buffer.toString("utf8", 0, this.#length);
    } catch {
      // A pipe, for example: `write` replaces it.
      this.close();
      return undefined;
    }
  }

  /** Writes an address. Throws the system's error. */
  write(address: string): void {
    if (this.#descriptor === undefined) overwrite(this.#path, address);
    else if (writeSync(this.#descriptor, address, 0) < this.#length) ftruncateSync(this.#descriptor, address.length);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/**
 * Overwrites the file's content in place: a file system such as ext4 waits for the disk when a file is truncated or replaced. After a
 * kill the content may be wrong, which only changes the first address to be tried. A symbolic link or a pipe is replaced by a file.
 */
function overwrite(path: string, content: string): void {
  let descriptor = openPlain(path);
  if (descriptor === undefined) {
    unlinkSync(path);
    descriptor = openMade(path, CREATE_NEW, FILE_MODE);
  }
  try {
    const length = writeSync(descriptor, content, 0);
    if (fstatSync(descriptor).size > length) ftruncateSync(descriptor, length);
  } finally {
    closeSync(descriptor);
  }
}

/** The file for writing, made if it is missing; undefined if a link or a pipe is there. Throws the system's error. */
function openPlain(path: string): number | undefined {
  let descriptor: number;
  try {
    descriptor = openMade(path, WRITE_PLAIN, FILE_MODE);
  } catch (error) {
    if (hasCode(error, "ELOOP") || hasCode(error, "ENXIO")) return undefined;
    throw error;
  }
  // A pipe that another process reads can be opened.
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  return undefined;
}
