// The log of a resident program: JSON lines, formatted by pino. Lines are written to a file descriptor without waiting for its reader: only when the kernel reports
// it writable, and only as much as it then accepts. So the last lines can be written synchronously whatever ends the process. Writer threads (pino's sonic-boom)
// cannot do that: at the end, their unfinished write is unknown, and without a reader they keep the process from ending.

import { writeSync } from "node:fs";
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import { harmlessMessage, inertLine } from "../../src/text/inert-text.ts";
import type { Clock } from "../system/clock.ts";
import { isWritable } from "../system/libc/libc.ts";

/** The levels, in rising order. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
/** See `logLevels`. */
export type DaemonLogLevel = (typeof logLevels)[number];

/** The least severe level of lines that the log shows, by the option `--log-level`. Throws an Error for another value. */
export function levelOf(text: string): DaemonLogLevel {
  const level = logLevels.find((each) => each === text);
  if (level !== undefined) return level;
  throw new Error(`--log-level ${text}: must be one of ${logLevels.join(", ")}`);
}

/** The fields of a line besides its message. Undefined fields are left out. */
export interface LogFields {
  /** Id of the line's call. */
  readonly request?: string | undefined;
  readonly trace?: string | undefined;
  readonly verb?: string | undefined;
  /** `namespace/name`. */
  readonly pod?: string | undefined;
  readonly container?: string | undefined;
  readonly ifname?: string | undefined;
  readonly network?: string | undefined;
  /** A plugin's type. */
  readonly step?: string | undefined;
  readonly kind?: string | undefined;
  readonly nested?: boolean | undefined;
  readonly ms?: number | undefined;
  /** A fault kind of the catalogue. */
  readonly fault?: string | undefined;
  readonly code?: number | undefined;
}

/** The daemon's log. */
export interface Log {
  /** Writes a line. `text` may come from any source: it becomes one line without control characters and secrets. */
  readonly write: (level: DaemonLogLevel, fields: LogFields, text: string) => void;
  /** Whether lines of this level are written. */
  readonly has: (level: DaemonLogLevel) => boolean;
  /** Writes the waiting lines synchronously; false if the reader does not take them. */
  readonly flush: () => boolean;
}

/** The settings of the log. */
export interface LogSettings {
  /** The program's name in each line; `plexusd` by default. */
  readonly name?: string;
  readonly level: DaemonLogLevel;
  /** File descriptor; 2 is stderr. */
  readonly fd: number;
  readonly clock: Clock;
  /** Called for each line that is dropped because the reader is too slow. */
  readonly dropped: () => void;
  /** When `flush` gives up. Default: that of a `LineWriter`. */
  readonly flushBounds?: FlushBounds;
}

/** Maximum length of a field, in UTF-16 units. */
const maxField = 512;
/** Maximum bytes that wait to be written. */
const maxWaitingBytes = 1024 * 1024;

/** Opens the log. */
export function openLog({ name = "plexusd", level, fd, clock, dropped, flushBounds }: LogSettings): Log {
  const destination = new LineWriter(fd, maxWaitingBytes, clock, dropped, flushBounds);
  const logger = loggerTo(destination, level, name);
  return {
    write(lineLevel, fields, text) {
      // Checked first: most lines are debug lines of successful calls, and sanitizing them would be wasted.
      if (!logger.isLevelEnabled(lineLevel)) return;
      logger[lineLevel](inertFields(fields), harmlessMessage(text));
    },
    has: (lineLevel) => logger.isLevelEnabled(lineLevel),
    flush: () => destination.flush(),
  };
}

function loggerTo(destination: DestinationStream, level: DaemonLogLevel, name: string): Logger {
  const options = {
    level,
    base: { name, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination);
}

function inertFields(fields: LogFields): LogFields {
  const inert: Record<string, unknown> = { ...fields };
  for (const name in inert) {
    const value = inert[name];
    if (typeof value === "string") inert[name] = inertLine(value, maxField);
  }
  return inert;
}

/** When flush() gives up. */
interface FlushBounds {
  /** Time without progress, in ms. */
  readonly stallMs: number;
  /** Time in all, in ms: a slow reader must not delay the process' end further. */
  readonly totalMs: number;
}

/** PIPE_BUF: a writable pipe accepts this many bytes atomically, without blocking (pipe(7)). */
const chunkBytes = 4096;
/** Chunks that are written in one turn of the event loop. */
const maxChunks = 64;
/** Time for which a line waits for further lines, in ms. */
const batchMs = 10;
/** Pause until the next try if the descriptor was not writable, in ms. */
const retryPauseMs = 20;
const defaultFlushBounds: FlushBounds = { stallMs: 500, totalMs: 2000 };

/** The writer of one descriptor. */
class LineWriter {
  readonly #fd: number;
  /** Maximum bytes that wait; further lines are dropped. */
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #flushBounds: FlushBounds;
  /** Called for each dropped line. */
  readonly #dropped: () => void;
  #lines: Buffer[] = [];
  #bytes = 0;
  #scheduled = false;

  /** `flushBounds`: default: half a second without progress, 2 s in all. */
  constructor(fd: number, maxBytes: number, clock: Clock, dropped: () => void, flushBounds = defaultFlushBounds) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
    this.#dropped = dropped;
    this.#clock = clock;
    this.#flushBounds = flushBounds;
  }

  /** Queues a line, which includes its line feed. Drops the line if too many bytes wait. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#bytes + bytes.length > this.#maxBytes) {
      this.#dropped();
      return;
    }
    this.#lines.push(bytes);
    this.#bytes += bytes.length;
    if (!this.#scheduled) this.#schedule();
  }

  /** Writes the waiting lines synchronously; false if the reader does not take them. */
  flush(): boolean {
    const { stallMs, totalMs } = this.#flushBounds;
    const started = this.#clock.now();
    let lastProgress = started;
    while (this.#bytes > 0) {
      const now = this.#clock.now();
      if (now - lastProgress > stallMs || now - started > totalMs) return false;
      if (this.#writeChunk()) lastProgress = now;
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
    return true;
  }

  /** Lines of concurrent calls are written together: each write wakes the reader, which costs more than the line. */
  #schedule(): void {
    this.#scheduled = true;
    // The timer must not keep the process alive: flush() writes the rest at its end.
    setTimeout(() => this.#pump(), batchMs).unref();
  }

  #pump(): void {
    this.#scheduled = false;
    for (let chunks = 0; this.#bytes > 0; chunks++) {
      if (chunks === maxChunks) {
        this.#scheduled = true;
        setImmediate(() => this.#pump());
        return;
      }
      if (this.#writeChunk()) continue;
      this.#scheduled = true;
      setTimeout(() => this.#pump(), retryPauseMs).unref();
      return;
    }
  }

  /** Writes one chunk. False if the descriptor is not writable now; a chunk that can never be written is dropped. */
  #writeChunk(): boolean {
    if (!isWritable(this.#fd)) return false;
    const chunk = this.#chunk();
    try {
      this.#written(chunk, writeSync(this.#fd, chunk));
    } catch (error) {
      // Another process filled the pipe meanwhile.
      if (error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EINTR")) return false;
      // The reader is gone (EPIPE), or the disk is full: the daemon continues without these lines.
      this.#dropped();
      this.#written(chunk, chunk.length);
    }
    return true;
  }

  /** As many whole lines as fit into a chunk; the beginning of a line that is longer. */
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
