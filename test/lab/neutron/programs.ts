// The programs of one fabric or switch of a test, in a directory of its own.

import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endChild, lastLines, startChild } from "../kube/child.ts";
import { neutronEnvironment } from "./packages.ts";

type Child = ReturnType<typeof startChild>;

/** Programs of the unpacked packages. */
export interface Programs {
  /** The path of a file in the directory. */
  readonly at: (name: string) => string;
  /** The file with the output of all started programs. */
  readonly log: string;
  /** The started programs, without those of `end`. */
  readonly children: readonly Child[];
  /** Runs a program to its end, and answers its output. Throws with its stderr. */
  readonly run: (program: string, ...args: readonly string[]) => string;
  readonly start: (program: string, ...args: readonly string[]) => Child;
  /** Ends one started program. */
  readonly end: (child: Child) => Promise<void>;
  /** Ends the started programs, and removes the directory. */
  readonly dispose: () => Promise<void>;
}

/** Time limit of a program that runs to its end, in ms. */
const runMs = 60_000;

/** Programs with their files in `directory`. */
export function programsIn(directory: string): Programs {
  const env = neutronEnvironment(directory);
  const at = (name: string): string => join(directory, name);
  const log = at("programs.log");
  writeFileSync(log, "");
  const children: Child[] = [];
  return {
    at,
    log,
    children,
    run: (program, ...args) => {
      const { status, stdout, stderr, error } = spawnSync(program, args, { env, encoding: "utf8", timeout: runMs });
      if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
      return stdout.trim();
    },
    start: (program, ...args) => {
      // startChild passes this process' environment.
      const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const child = startChild("env", [...assignments, program, ...args], log);
      children.push(child);
      return child;
    },
    end: async (child) => {
      children.splice(children.indexOf(child), 1);
      await endChild(child);
    },
    dispose: async () => {
      await Promise.all(children.map(endChild));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Time limit of the start of a program, in ms. */
const readyWithinMs = 90_000;

/** Repeats the attempt until it succeeds. Throws its last error with the end of the log when the time is over, or when a program "has ended". */
export async function untilReady(attempt: () => unknown, log: string): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadline || String(error).includes("has ended")) {
        throw new Error(`the program is not ready: ${String(error)}\n${lastLines(log)}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
