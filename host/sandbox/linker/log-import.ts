// The capability `log`, cut to its budget before any of it is copied out of the guest.

import type { Guest } from "../abi/guest.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import type { Limits } from "../limits.ts";

const levels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof levels)[number];
export type WriteLog = (level: LogLevel, message: string) => void;

// A guest that goes on so long after its lines are used up does nothing else.
const patience = 16;

/** Whether a text names a level. */
export function isLogLevel(text: unknown): text is LogLevel {
  return levels.some((level) => level === text);
}

/** The budget of one call. What exceeds it is dropped with one line that says so; a flood ends the call (LIMIT_LOG). */
export class LogBudget {
  private bytes: number;
  private lines: number;
  private calls = 0;
  private closed = false;
  private readonly limits: Limits;

  constructor(limits: Limits) {
    this.limits = limits;
    this.bytes = limits.logBytes;
    this.lines = limits.logLines;
  }

  /** Writes one line out of the guest's memory. */
  write(guest: Guest, [level = 0, pointer = 0, length = 0]: readonly number[], write: WriteLog): void {
    const { logBytes, logLines } = this.limits;
    this.calls += 1;
    if (this.calls > logLines * patience) {
      throw new GuestFault("LIMIT_LOG", `wrote ${this.calls} lines of log; ${logLines} are allowed`);
    }
    const name = guest.label(levels, level);
    if (this.closed) {
      guest.range(pointer, length >>> 0, 1);
      return;
    }
    const { text, cut, bytes } = guest.liftCutString(pointer, length, this.bytes);
    this.bytes -= bytes;
    this.lines -= 1;
    this.closed = cut || this.lines <= 0;
    write(name, text);
    if (this.closed) write("warn", `the rest of the log is cut (at most ${logBytes} bytes, ${logLines} lines)`);
  }
}
