// Runs a program of the system, or the plugin under test.

import { spawn } from "node:child_process";
import type { Reply } from "../subject.ts";
import { programPath } from "./program-path.ts";

/** Milliseconds until a program is killed. */
const timeLimitMs = 30_000;
/** Milliseconds from the exit of a program until its stdout must be closed. */
const closeLimitMs = 300;
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
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has ended.
    }
  };
  const timer = setTimeout(killGroup, timeLimitMs);
  try {
    const closed = new Promise<"closed">((done) => child.once("close", () => done("closed")));
    const status = await new Promise<number>((done, fail) => {
      child.once("error", fail);
      child.once("exit", (code) => done(code ?? 255));
    });
    const end = await Promise.race([closed, new Promise<"held">((done) => setTimeout(done, closeLimitMs, "held").unref())]);
    if (end === "held") {
      killGroup();
      await closed;
    }
    return { status, stdout: output.stdout(), stderr: output.stderr(), heldStdout: end === "held" };
  } finally {
    clearTimeout(timer);
  }
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
