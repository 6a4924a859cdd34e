// Reads frames from a pipe, waiting for them: nearly always a frame in one read, and with it what is behind it.

import { readSync } from "node:fs";
import { decodeBody, headerBytes, type Frame } from "./frames.ts";

/** Bytes of the buffer that is used again and again; a frame that is longer gets one of its own. */
const ordinary = 64 * 1024;

export class FrameReader {
  readonly #input: number;
  readonly #ended: () => never;
  readonly #buffer = Buffer.allocUnsafeSlow(ordinary);
  /** What was read and not taken yet, in the buffer. */
  #from = 0;
  #to = 0;

  /** `ended` is called where the pipe's other end is gone. */
  constructor(input: number, ended: () => never) {
    this.#input = input;
    this.#ended = ended;
  }

  next(): Frame {
    this.#fill(headerBytes);
    const length = this.#buffer.readUInt32LE(this.#from);
    this.#from += headerBytes;
    if (headerBytes + length > ordinary) return decodeBody(this.#large(length));
    this.#fill(length);
    const body = this.#buffer.subarray(this.#from, this.#from + length);
    this.#from += length;
    const frame = decodeBody(body);
    // The buffer is written anew.
    return frame.raw.length === 0 ? frame : { ...frame, raw: Buffer.from(frame.raw) };
  }

  /** Has so many bytes in the buffer. */
  #fill(size: number): void {
    if (this.#to - this.#from >= size) return;
    this.#buffer.copyWithin(0, this.#from, this.#to);
    this.#to -= this.#from;
    this.#from = 0;
    while (this.#to < size) this.#to += this.#read(this.#buffer, this.#to);
  }

  #large(length: number): Buffer {
    const body = Buffer.allocUnsafe(length);
    let have = this.#buffer.copy(body, 0, this.#from, Math.min(this.#to, this.#from + length));
    this.#from += have;
    while (have < length) have += this.#read(body, have);
    return body;
  }

  #read(into: Buffer, at: number): number {
    const count = readSync(this.#input, into, at, into.length - at, null);
    return count === 0 ? this.#ended() : count;
  }
}
