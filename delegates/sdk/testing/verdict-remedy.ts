// Remedies for authors whose delegate a sandbox ended. The fault catalogue has those for administrators.

import type { FaultKind } from "../../../src/fault/catalogue.ts";

const remedies: Partial<Record<FaultKind, string>> = {
  DELEGATE_TRAPPED:
    "answer a Fault for errors that are not defects; declare log in delegate.json to get an abort's message with its file and line",
  VERSION_UNSUPPORTED: "add the version to cniVersions of delegate.json, or change cniVersion of the vector's stdin",
  LIMIT_RECURSION: "end each recursion, or use a loop: the node bounds the depth of calls",
  LIMIT_LOG: "write fewer lines: the node bounds the log of a call",
  LIMIT_TIME: "end each loop, and do less in one call; an administrator raises wasm.limits.timeMs only for a reason",
  LIMIT_MEMORY:
    "make fewer objects: no garbage is collected within a call; an administrator raises wasm.limits.memoryMiB only for a reason",
};

/** The remedy for a verdict whose text begins with the fault's name; undefined if there is none. */
export function remedyOf(verdict: string): string | undefined {
  const [name = ""] = verdict.split(":", 1);
  return Object.hasOwn(remedies, name) ? remedies[name as FaultKind] : undefined;
}
