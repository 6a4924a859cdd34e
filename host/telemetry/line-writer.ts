// Writes lines to a descriptor without ever waiting for its reader: only when the kernel says that it takes some, and no more than it then
// takes for sure. So nothing is lost at an end of whatever kind, which threads that write (pino's sonic-boom) can't say: what they are
// about at that moment nobody knows, and where nobody reads they keep the process from ending.

import { writeSync } from "node:fs";
import { isWritable } from "../libc/libc.ts";

export interface LineWriterInit {
  readonly fd: number;
  /** Bytes that may wait. */
  readonly most: number;
  /** Called for each line that is thrown away. */
  readonly dropped: () => void;
}

/** PIPE_BUF: a pipe that is writable takes that much without waiting, in one piece (pipe(7)). */
const chunkBytes = 4096;
/** Chunks in one go, before others have their turn. */
const mostChunks = 64;
/** A line waits so long for others, in ms. */
const togetherMs = 10;
/** Where it took nothing, it is looked again after so long, in ms. */
const againMs = 20;
/** As long it tries at the end without anything being taken, in ms. */
const lastMs = 500;
/** And altogether: a reader that reads a little now and then holds up the end no longer, in ms. */
const longestMs = 2000;

export class LineWriter {
  readonly #init: LineWriterInit;
  #lines: Buffer[] = [];
  #bytes = 0;
  #scheduled = false;

  constructor(init: LineWriterInit) {
    this.#init = init;
  }

  /** Takes a line, with its line feed; drops it where too much waits. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#bytes + bytes.length > this.#init.most) {
      this.#init.dropped();
      return;
    }
    this.#lines.push(bytes);
    this.#bytes += bytes.length;
    if (!this.#scheduled) this.#later();
  }

  /** Writes what is left, here and now; false where nobody takes it. */
  flush(): boolean {
    const started = performance.now();
    let moved = started;
    while (this.#bytes > 0) {
      const now = performance.now();
      if (now - moved > lastMs || now - started > longestMs) return false;
      if (this.#writeChunk()) moved = now;
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
    return true;
  }

  /** So that the lines of calls that come at once go together: each write wakes whoever reads, which costs more than the line. */
  #later(): void {
    this.#scheduled = true;
    // A process that has nothing else to do ends, and flushes.
    setTimeout(() => this.#pump(), togetherMs).unref();
  }

  #pump(): void {
    this.#scheduled = false;
    for (let chunks = 0; this.#bytes > 0; chunks++) {
      if (chunks === mostChunks) {
        this.#scheduled = true;
        setImmediate(() => this.#pump());
        return;
      }
      if (this.#writeChunk()) continue;
      this.#scheduled = true;
      setTimeout(() => this.#pump(), againMs).unref();
      return;
    }
  }

  /** Whether some of it was taken, or nobody can take any more. */
  #writeChunk(): boolean {
    const { fd, dropped } = this.#init;
    if (!isWritable(fd)) return false;
    const chunk = this.#chunk();
    try {
      this.#written(chunk, writeSync(fd, chunk));
    } catch (error) {
      // Another process filled it meanwhile.
      if (error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EINTR")) return false;
      // Its reader is gone (EPIPE), or the disk is full: no reason to end.
      dropped();
      this.#written(chunk, chunk.length);
    }
    return true;
  }

  /** Whole lines as far as they fit; of a longer one its beginning. */
  #chunk(): Buffer {
    const [first = Buffer.alloc(0)] = this.#lines;
    if (first.length >= chunkBytes) return first.subarray(0, chunkBytes);
    let count = 0;
    let length = 0;
    while (count < this.#lines.length && length + (this.#lines[count]?.length ?? 0) <= chunkBytes) {
      length += this.#lines[count]?.length ?? 0;
      count += 1;
    }
    return count === 1 ? first : Buffer.concat(this.#lines.slice(0, count), length);
  }

  #written(chunk: Buffer, count: number): void {
    this.#bytes -= count;
    let left = count;
    let whole = 0;
    for (const line of this.#lines) {
      if (line.length > left) break;
      left -= line.length;
      whole += 1;
    }
    this.#lines.splice(0, whole);
    const [first] = this.#lines;
    if (left > 0 && first !== undefined && chunk.length > 0) this.#lines[0] = first.subarray(left);
  }
}
