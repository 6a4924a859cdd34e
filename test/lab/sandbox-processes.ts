// The sandbox processes of this process, as the kernel lists them. Each is the only child of its launcher, which is a child of the engine.

import { readdirSync, readFileSync } from "node:fs";

/** Ids of the children of a process. */
export function childrenOf(pid: number | "self"): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Ids of the processes, of this process' launchers, whose command line has `program`. */
export function sandboxProcesses(program = "guest-process.cjs"): readonly number[] {
  return childrenOf("self")
    .flatMap(childrenOf)
    .filter((pid) => commandLine(pid).includes(program));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
