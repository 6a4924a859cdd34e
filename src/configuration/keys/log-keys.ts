// The log of a call, and its traces.

import { chainTraceSection } from "../chain-trace-configuration.ts";
import { key, type ValuesOf } from "../table/key.ts";
import type { Kind } from "../table/kind.ts";
import { absolutePath, boolean, matching, pathOrEmpty } from "../table/kinds.ts";

/** Multus' levels, from fewest to most lines. */
export const logLevels = ["panic", "error", "verbose", "debug"] as const;

/** See `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/** Multus accepts a level in any case, and the empty text for its default. */
const writtenLevel = matching({ pattern: /^(?:panic|error|verbose|debug|)$/i, wanted: `one of ${logLevels.join(", ")}` });

const level: Kind<LogLevel> = {
  ...writtenLevel,
  read: (reader, at) => {
    const written = writtenLevel.read(reader, at)?.toLowerCase();
    return logLevels.find((each) => each === written);
  },
};

export const logKeys = {
  logFile: key({ kind: pathOrEmpty, about: "A file to which log lines are appended." }),
  logLevel: key({
    kind: level,
    about:
      "panic: only defects of Plexus; error: also failures; verbose (default): also warnings and delegates' log lines; debug: also every call. Configurations are never logged.",
    usual: "verbose",
  }),
  logToStderr: key({
    kind: boolean,
    about: "Whether log lines go to stderr, which the runtime copies to its log; {usual} by default.",
    usual: true,
  }),
  trace: key({ kind: absolutePath, about: "A file that gets one line of JSON for each step." }),
  chainTrace: key({
    kind: chainTraceSection,
    about: "Writes a chain trace of each call: one file with every step's input, output and imports, for plexusctl trace.",
  }),
};

/** Settings of a call's log. */
export type LogConfiguration = Pick<ValuesOf<typeof logKeys>, "logFile" | "logLevel" | "logToStderr">;
