// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `log`: lines for the host's log. The host adds the delegate's name and cuts lines that exceed the budget.

import * as _calls from "./calls";

export enum Level {
  Debug = 0,
  Info = 1,
  Warn = 2,
  Error = 3,
}

export function write(level: Level, message: string): void {
  _calls.log_write(level, message);
}
