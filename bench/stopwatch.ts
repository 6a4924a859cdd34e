// Measures programs from their start to their end with the C program stopwatch.c, which starts them.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { builtOnce, root } from "../test/lab/compiled.ts";
import type { Sample } from "./measure.ts";

export interface Program {
  readonly argv: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The expected exit status; by default 0. */
  readonly status?: number;
}

export interface Stopwatch {
  /** A sample that runs the program once. It throws if the program ends with another status than expected. */
  program(program: Program): Sample;
  /** Runs the program once and returns its stdout and its duration in ms. */
  run(program: Program): Promise<{ readonly stdout: string; readonly ms: number }>;
  dispose(): Promise<void>;
}

function compiled(): string {
  const source = join(root, "bench", "stopwatch.c");
  return builtOnce("stopwatch", [readFileSync(source, "utf8")], (output) => {
    execFileSync("cc", ["-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-o", output, source], {
      stdio: ["ignore", "inherit", "inherit"],
    });
  });
}

function nulTerminated(texts: readonly string[]): string {
  return texts.map((text) => `${text}\0`).join("");
}

export function startStopwatch(): Stopwatch {
  const directory = mkdtempSync(join(tmpdir(), "plexus-bench-"));
  const child = spawn(compiled(), [], { stdio: ["pipe", "pipe", "inherit"], env: {} });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let jobs = 0;

  const job = (program: Program): string => {
    const path = join(directory, String(jobs++));
    mkdirSync(path);
    const env = Object.entries(program.env ?? {}).map(([key, value]) => `${key}=${value}`);
    writeFileSync(join(path, "argv"), nulTerminated(program.argv));
    writeFileSync(join(path, "env"), nulTerminated(env));
    writeFileSync(join(path, "stdin"), program.stdin ?? "");
    return path;
  };
  const start = async (path: string, program: Program): Promise<number> => {
    child.stdin.write(`${path}\n`);
    const line = await lines.next();
    if (line.done === true) throw new Error("the stopwatch ended");
    const [nanoseconds, status] = line.value.split(" ").map(Number);
    if (status !== (program.status ?? 0)) {
      const output = `${readFileSync(join(path, "stdout"), "utf8")}${readFileSync(join(path, "stderr"), "utf8")}`;
      throw new Error(`${program.argv.join(" ")} ended with ${status}: ${output.slice(0, 2000)}`);
    }
    return (nanoseconds ?? Number.NaN) / 1e6;
  };
  return {
    program(program) {
      const path = job(program);
      return () => start(path, program);
    },
    async run(program) {
      const path = job(program);
      const ms = await start(path, program);
      const stdout = readFileSync(join(path, "stdout"), "utf8");
      rmSync(path, { recursive: true });
      return { stdout, ms };
    },
    async dispose() {
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.stdin.end();
      await closed;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
