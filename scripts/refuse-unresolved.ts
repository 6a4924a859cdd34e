// A build must not write a program whose packages are missing.

import type { LogLevel, LogOrStringHandler, RolldownLog } from "rolldown";

/** Rolldown's `onLog`: makes a missing package an error. Rolldown itself only warns, and writes a program that cannot start. */
export function refuseUnresolved(level: LogLevel, log: RolldownLog, report: LogOrStringHandler): void {
  if (log.code === "UNRESOLVED_IMPORT") report("error", { ...log, message: `${log.message}\nTo do: npm install` });
  else report(level, log);
}
