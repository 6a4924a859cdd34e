// The value of the option `--log-level`.

import { type DaemonLogLevel, logLevels } from "./log.ts";

/** The least severe level of lines that the log shows. */
export function levelOf(text: string): DaemonLogLevel {
  const level = logLevels.find((each) => each === text);
  if (level !== undefined) return level;
  throw new Error(`--log-level ${text}: must be one of ${logLevels.join(", ")}`);
}
