// The daemon's log: JSON lines by pino, to a descriptor.

import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import { inertLine } from "../sandbox/inert-text.ts";
import { harmlessMessage } from "./harmless.ts";
import { LineWriter } from "./line-writer.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type DaemonLogLevel = (typeof logLevels)[number];

/** What a line says besides its message; absent members are left out. */
export interface LogFields {
  /** The call that it belongs to. */
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
  /** A kind of the catalogue. */
  readonly fault?: string | undefined;
  readonly code?: number | undefined;
}

export interface Log {
  /** Whoever said it: `text` is made one harmless line without secrets. */
  readonly write: (level: DaemonLogLevel, fields: LogFields, text: string) => void;
  /** Whether lines of this level are written at all. */
  readonly has: (level: DaemonLogLevel) => boolean;
  /** Writes what is left; false where nobody takes it. */
  readonly flush: () => boolean;
}

export interface LogInit {
  readonly level: DaemonLogLevel;
  /** A descriptor; 2 is stderr. */
  readonly fd: number;
  /** Called for each line that is thrown away because nobody took those before it. */
  readonly dropped: () => void;
}

const longestField = 512;
/** Bytes that may wait to be written. */
const mostWaiting = 1024 * 1024;

export function openLog({ level, fd, dropped }: LogInit): Log {
  const destination = new LineWriter({ fd, most: mostWaiting, dropped });
  const logger = loggerTo(destination, level);
  return {
    write(lineLevel, fields, text) {
      // Most lines are of calls that went well: what isn't written isn't made harmless either.
      if (!logger.isLevelEnabled(lineLevel)) return;
      logger[lineLevel](harmless(fields), harmlessMessage(text));
    },
    has: (lineLevel) => logger.isLevelEnabled(lineLevel),
    flush: () => destination.flush(),
  };
}

function loggerTo(destination: DestinationStream, level: DaemonLogLevel): Logger {
  const options = {
    level,
    base: { name: "plexusd", pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination);
}

function harmless(fields: LogFields): LogFields {
  const told: Record<string, unknown> = { ...fields };
  for (const name in told) {
    const value = told[name];
    if (typeof value === "string") told[name] = inertLine(value, longestField);
  }
  return told;
}
