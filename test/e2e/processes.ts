// Reads processes of tests from /proc.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The answer of `read`, or undefined if `read` throws because the process has ended. */
function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The path of a process' executable, or undefined for an ended process and a zombie. */
export function programOf(pid: number): string | undefined {
  return readOrUndefined(() => readlinkSync(`/proc/${pid}/exe`));
}

/** Children of a process' main thread, oldest first. */
export function childrenOf(pid: number): readonly number[] {
  const text = readOrUndefined(() => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")) ?? "";
  return text
    .split(" ")
    .filter((each) => each !== "")
    .map(Number);
}

/** Command lines of all processes whose arguments contain `directory`. */
export function processesNaming(directory: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((pid) => readOrUndefined(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? [])
    .map((line) => line.replaceAll("\0", " ").trim())
    .filter((line) => line.includes(directory));
}

/** Names of the links in a process' network namespace, except `lo`. */
export function linksInNamespaceOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/net/dev`, "utf8")
    .split("\n")
    .flatMap((line) => /^\s*(\S+):/u.exec(line)?.[1] ?? [])
    .filter((name) => name !== "lo");
}

/** Sends a signal. False if the process had ended. */
export function signalled(pid: number, signal: "SIGKILL" | "SIGSTOP"): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
