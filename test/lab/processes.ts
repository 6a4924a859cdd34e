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

/** Processes with an argument that ends with `text`. */
export function pidsNaming(text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .filter((pid) => readOrUndefined(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.includes(`${text}\0`) === true)
    .map(Number);
}

/** The parent of a process; 0 if the process has ended. */
export function parentOf(pid: number): number {
  const status = readOrUndefined(() => readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(/^PPid:\s+(\d+)$/mu.exec(status ?? "")?.[1] ?? 0);
}

/** The sum of a row of /proc/PID/status over processes, such as VmRSS, in MiB. A process that has ended counts nothing. */
export function memoryOfKind(pids: readonly number[], row: string): number {
  const pattern = new RegExp(`^${row}:\\s+(\\d+) kB$`, "mu");
  const kibibytes = pids.map((pid) =>
    Number(pattern.exec(readOrUndefined(() => readFileSync(`/proc/${pid}/status`, "utf8")) ?? "")?.[1] ?? 0),
  );
  return Math.round(kibibytes.reduce((sum, each) => sum + each, 0) / 1024);
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
