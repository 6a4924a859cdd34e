// The sandbox processes of an engine, as the kernel lists them. Each is the only child of its launcher. The launcher is a child of the engine, or of a
// daemon's launch server.

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

/** Ids of the processes below this one, without it. */
export function descendantsOf(pid: number | "self"): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Ids of the sandbox processes of an engine, by default this process: those whose command line has `program`, and copies of its zygote. */
export function sandboxProcesses(program = "guest-process.cjs", engine: number | "self" = "self"): readonly number[] {
  return descendantsOf(engine).filter((pid) => {
    const line = commandLine(pid);
    // The launcher names the program, too. A copy has the zygote's command line, and a name of its own.
    return (line.includes(program) && !line.includes("\0--namespaces\0")) || isCopy(pid);
  });
}

/** Whether the process is a copy of a zygote. */
export function isCopy(pid: number): boolean {
  return nameOf(pid) === "plexus-guest";
}

/** The zygote below a process; 0: there is none. A copy that has just been made still has the zygote's name, and one thread. */
export function zygoteOf(pid: number | "self"): number {
  return descendantsOf(pid).find((each) => nameOf(each) === "plexus-zygote" && threadsOf(each) === 3) ?? 0;
}

function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

/** The name of a process; empty if it has ended. */
export function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
