// Processes of a test, seen through /proc.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** What `read` answers, or undefined where the process is gone. */
function ofLiving<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The path of the program that a process runs; undefined where it is gone, or a zombie. */
export function programOf(pid: number): string | undefined {
  return ofLiving(() => readlinkSync(`/proc/${pid}/exe`));
}

/** Children of a process with one thread, oldest first. */
export function childrenOf(pid: number): readonly number[] {
  const text = ofLiving(() => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")) ?? "";
  return text
    .split(" ")
    .filter((each) => each !== "")
    .map(Number);
}

/** Command lines of all processes that name `directory`. */
export function processesNaming(directory: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((pid) => ofLiving(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? [])
    .map((line) => line.replaceAll("\0", " ").trim())
    .filter((line) => line.includes(directory));
}

/** Names of the links but `lo` in the network namespace that a process is in. */
export function linksSeenBy(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/net/dev`, "utf8")
    .split("\n")
    .flatMap((line) => /^\s*(\S+):/u.exec(line)?.[1] ?? [])
    .filter((name) => name !== "lo");
}

/** Sends a signal. False: the process was gone already. */
export function signalled(pid: number, signal: "SIGKILL" | "SIGSTOP"): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
