// Runs a program of the system, or the plugin under test.

import { spawn, spawnSync } from "node:child_process";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../subject.ts";
import { programPath } from "./program-path.ts";

/** Milliseconds until a program is killed. */
const timeLimitMs = 30_000;
/** Milliseconds from the exit of a program until a process of its group that is still there counts as left behind. */
const groupLimitMs = 300;
/** The same for a process outside of the group. This process may learn late of a closed stdout. */
const closeLimitMs = 3000;
/** Greatest number of bytes of stdout and of stderr. */
const maxBytes = 4 << 20;

/** A program with its surroundings. */
export interface ProgramInit {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Path of the network namespace; absent: that of this process. */
  readonly netns?: string | undefined;
}

/** Resolves when the program has ended, with all that it printed. Rejects if the program can't be started. */
export async function runProgram({ file, args, env = {}, stdin = "", netns }: ProgramInit): Promise<Reply> {
  const [command, words] = netns === undefined ? [file, args] : ["nsenter", [`--net=${netns}`, "--", file, ...args]];
  // A group of its own: a process that the program leaves behind is ended with it.
  const child = spawn(command, words, { env: { PATH: programPath(), ...env }, detached: true });
  const output = { stdout: collected(child.stdout), stderr: collected(child.stderr) };
  child.stdin.on("error", () => {
    // The program need not read its stdin.
  });
  child.stdin.end(stdin);
  const killGroup = (): void => void signalGroup(child.pid, "KILL");
  const timer = setTimeout(killGroup, timeLimitMs);
  try {
    const closed = new Promise<"closed">((done) => child.once("close", () => done("closed")));
    const status = await new Promise<number>((done, fail) => {
      child.once("error", fail);
      child.once("exit", (code) => done(code ?? 255));
    });
    let end = await Promise.race([closed, held(groupLimitMs)]);
    if (end === "held" && !hasGroup(child.pid)) end = await Promise.race([closed, held(closeLimitMs)]);
    if (end === "held") {
      killGroup();
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    }
    return { status, stdout: output.stdout(), stderr: output.stderr(), heldStdout: end === "held" };
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after this time, and after the output that has arrived by then: on a busy machine the timer is served before the pipes. */
async function held(afterMs: number): Promise<"held"> {
  await sleep(afterMs, undefined, { ref: false });
  await nextTurn();
  return "held";
}

/** Whether a process of the program's group runs. */
function hasGroup(pid: number | undefined): boolean {
  return signalGroup(pid, "0");
}

/** Signals a program's group; false if there is none. The shell does it: a lost ID must never become a signal to this process' own group. */
export function signalGroup(pid: number | undefined, signal: "KILL" | "0"): boolean {
  if (pid === undefined || pid <= 1) return false;
  return spawnSync("sh", ["-c", `kill -s ${signal} -- -${pid}`], { env: { PATH: programPath() }, stdio: "ignore" }).status === 0;
}

function collected(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}
