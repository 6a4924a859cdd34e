// A load beside a test run: busy loops, a loop that writes and syncs, and memory that is touched again and again.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The parts of a load. */
export interface LoadInit {
  /** Processes that compute without a pause. */
  readonly busyLoops: number;
  /** Bytes of memory that one process writes to, over and over. */
  readonly memoryBytes: number;
}

/** The load of `npm run test:steady`. */
export const steadyLoad: LoadInit = { busyLoops: 4, memoryBytes: 2 * 1024 ** 3 };

/** A load that runs until `end`. */
export interface Load {
  end(): Promise<void>;
}

const busy = "for (;;);";
const writes = `
const { closeSync, fsyncSync, openSync, writeSync } = require("node:fs");
const block = Buffer.alloc(1 << 20, 1);
for (;;) {
  const file = openSync(process.argv[1], "w");
  for (let n = 0; n < 16; n++) { writeSync(file, block); fsyncSync(file); }
  closeSync(file);
}`;
const touches = `
const bytes = Buffer.alloc(Number(process.argv[1]));
for (let round = 1; ; round = (round + 1) & 255) for (let at = 0; at < bytes.length; at += 4096) bytes[at] = round;`;

/** Starts the load. */
export function startLoad({ busyLoops, memoryBytes }: LoadInit): Load {
  const directory = mkdtempSync(join(tmpdir(), "plexus-load-"));
  const children = [
    ...Array.from({ length: busyLoops }, () => run(busy)),
    run(writes, join(directory, "written")),
    run(touches, String(memoryBytes)),
  ];
  return {
    async end() {
      const ends = children.map((child) => once(child, "exit"));
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(ends);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function run(script: string, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["-e", script, ...args], { stdio: "ignore" });
}
