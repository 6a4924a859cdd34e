// The capabilities of a replay: every function answers from the record.

import type { ImportReplay } from "../../../src/chain-trace/import-replay.ts";
import { abiVersions } from "../../../host/sandbox/abi/versions.ts";
import type { CapabilityImports } from "../../../host/sandbox/runner.ts";

/** The functions of these capabilities. A call that differs from the recorded one throws, which ends the guest. */
export function replayedImports(names: readonly string[], replay: ImportReplay): CapabilityImports {
  const imports: Record<string, Record<string, unknown>> = {};
  for (const capability of names) {
    const functions: Record<string, unknown> = {};
    for (const { imports: interfaces } of Object.values(abiVersions)) {
      for (const { host } of Object.values(interfaces[capability] ?? {})) {
        functions[host] = (...args: readonly unknown[]): unknown => {
          const answered = replay.answer(`${capability}.${host}`, args);
          if ("difference" in answered) throw new Error(`replay: ${answered.difference}`);
          return answered.answer;
        };
      }
    }
    // The log is compared by nothing: a guest's log may be cut at another place.
    imports[capability] = capability === "log" ? { write: () => undefined } : functions;
  }
  return imports;
}
