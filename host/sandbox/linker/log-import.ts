// The capability `log`. A line is cut to the call's budget before it is copied out of the guest.

import type { Guest } from "../abi/guest.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import type { LogLimits } from "../limits.ts";

const levels = ["debug", "info", "warn", "error"] as const;
/** A level of the capability `log`. */
export type LogLevel = (typeof levels)[number];
/** Takes one line of a guest's log. */
export type WriteLog = (level: LogLevel, message: string) => void;

// A guest may try to write this many times its lines; a guest that writes more is a flood.
const floodFactor = 16;

/** Whether `text` is the name of a log level. */
export function isLogLevel(text: unknown): text is LogLevel {
  return levels.some((level) => level === text);
}

/** The log budget of one call. Further log is dropped, and one line reports the cut. A flood ends the call (LIMIT_LOG). */
export class LogBudget {
  #bytes: number;
  #lines: number;
  #calls = 0;
  #closed = false;
  #streamBytes: number;
  readonly #limits: LogLimits;

  constructor(limits: LogLimits) {
    this.#limits = limits;
    this.#bytes = limits.logBytes;
    this.#streamBytes = limits.logBytes;
    this.#lines = limits.logLines;
  }

  /** Passes one line from the guest's memory to `write`. Throws GuestFault. */
  write(guest: Guest, [level = 0, pointer = 0, length = 0]: readonly number[], write: WriteLog): void {
    this.#count();
    const name = guest.label(levels, level);
    if (this.#closed) {
      guest.range(pointer, length >>> 0, 1);
      return;
    }
    const { text, cut, bytes } = guest.liftCutString(pointer, length, this.#bytes);
    this.#pass(name, text, { bytes, whole: cut ? length >>> 0 : bytes }, write);
  }

  /** The bytes that a guest writes to a stream: at most as many in one call as its log may have. Throws GuestFault. */
  take(guest: Guest, pointer: number, length: number): Uint8Array {
    this.#count();
    const bytes = guest.copy(pointer, length, this.#streamBytes);
    this.#streamBytes -= bytes.length;
    return bytes;
  }

  /** Passes one line of a stream to `write`. */
  writeLine(level: LogLevel, line: string, write: WriteLog): void {
    if (this.#closed) return;
    const bytes = Buffer.from(line);
    const cut = bytes.length > this.#bytes;
    const size = { bytes: Math.min(bytes.length, this.#bytes), whole: bytes.length };
    this.#pass(level, cut ? bytes.toString("utf8", 0, this.#bytes) : line, size, write);
  }

  /** `bytes`: of the text; `whole`: of the guest's line. */
  #pass(
    level: LogLevel,
    text: string,
    { bytes, whole }: { readonly bytes: number; readonly whole: number },
    write: WriteLog,
  ): void {
    const { logBytes, logLines } = this.#limits;
    const cut = whole > bytes;
    this.#bytes -= bytes;
    this.#lines -= 1;
    this.#closed = cut || this.#lines <= 0;
    write(level, text);
    const line = cut ? `${whole - bytes} of ${whole} bytes of this line and ` : "";
    if (this.#closed) write("warn", `${line}the rest of the log is cut (at most ${logBytes} bytes, ${logLines} lines)`);
  }

  #count(): void {
    const { logLines } = this.#limits;
    this.#calls += 1;
    if (this.#calls > logLines * floodFactor) {
      throw new GuestFault("LIMIT_LOG", `wrote ${this.#calls} lines of log; ${logLines} are allowed`);
    }
  }
}
