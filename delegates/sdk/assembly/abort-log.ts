// The end of a guest that logs: `throw`, a failed assert or an out-of-range index logs its message and place, then traps.

import { Level, write } from "./abi/log";

/** AssemblyScript's abort hook. */
export function abort(message: string | null = null, file: string | null = null, line: u32 = 0, column: u32 = 0): void {
  const what = message === null ? "aborted" : message;
  write(Level.Error, file === null ? what : `${what} (${file}:${line}:${column})`);
  unreachable();
}
