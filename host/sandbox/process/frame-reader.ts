// Reads frames from a pipe, blocking. Usually one read gets a whole frame, and perhaps the following frames.

import { readSync } from "node:fs";
import { decodeBody, headerBytes, type Frame } from "./frames.ts";

/** Size in bytes of the reused buffer; a longer frame gets a separate buffer. */
const bufferBytes = 64 * 1024;

/** Reads frames one by one. Throws for a malformed frame. */
export class FrameReader {
  readonly #input: number;
  readonly #ended: () => never;
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  /** The unread bytes in the buffer are from `#from` to `#to`. */
  #from = 0;
  #to = 0;

  /** `ended` is called when the other end of the pipe is closed. */
  constructor(input: number, ended: () => never) {
    this.#input = input;
    this.#ended = ended;
  }

  /** Waits for the next frame. */
  next(): Frame {
    this.#fill(headerBytes);
    const length = this.#buffer.readUInt32LE(this.#from);
    this.#from += headerBytes;
    if (headerBytes + length > bufferBytes) return decodeBody(this.#large(length));
    this.#fill(length);
    const body = this.#buffer.subarray(this.#from, this.#from + length);
    this.#from += length;
    const frame = decodeBody(body);
    // A copy, because the buffer is reused.
    return frame.raw.length === 0 ? frame : { ...frame, raw: Buffer.from(frame.raw) };
  }

  /** Reads until the buffer has `size` unread bytes. */
  #fill(size: number): void {
    if (this.#to - this.#from >= size) return;
    this.#buffer.copyWithin(0, this.#from, this.#to);
    this.#to -= this.#from;
    this.#from = 0;
    while (this.#to < size) this.#to += this.#read(this.#buffer, this.#to);
  }

  #large(length: number): Buffer {
    const body = Buffer.allocUnsafe(length);
    let filled = this.#buffer.copy(body, 0, this.#from, Math.min(this.#to, this.#from + length));
    this.#from += filled;
    while (filled < length) filled += this.#read(body, filled);
    return body;
  }

  #read(into: Buffer, at: number): number {
    const count = readSync(this.#input, into, at, into.length - at, null);
    return count === 0 ? this.#ended() : count;
  }
}
