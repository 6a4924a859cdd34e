// The log of a resident program: JSON lines, formatted by pino, written to a file descriptor.

import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import { inertLine } from "../../src/text/inert-text.ts";
import { harmlessMessage } from "../../src/text/harmless-message.ts";
import { type FlushBounds, LineWriter } from "./line-writer.ts";
import type { Clock } from "../system/clock.ts";

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
export interface LogInit {
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
export function openLog({ name = "plexusd", level, fd, clock, dropped, flushBounds }: LogInit): Log {
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
