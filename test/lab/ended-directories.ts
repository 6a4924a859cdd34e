// Directories of servers that end with their worker: a cluster, or an API server that the worker's files share. A worker can't remove them itself,
// because the servers write until they end. The set-up of a Vitest project removes them after the run.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { processesNaming } from "./processes.ts";

/** How long servers may outlive their worker, in milliseconds. */
const endMs = 60_000;

/** Has a directory removed after the run. `registry` is a directory in the tests' own /run, with one file for each. */
export function removeAfterRun(registry: string, directory: string): void {
  mkdirSync(registry, { recursive: true });
  writeFileSync(join(registry, basename(directory)), directory);
}

/** Removes the directories of a registry when no process names them any more. `before` is called for each directory that is still there. */
export async function removeEnded(
  registry: string,
  before: (directory: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  if (!existsSync(registry)) return;
  for (const name of readdirSync(registry)) {
    const directory = readFileSync(join(registry, name), "utf8");
    const deadline = performance.now() + endMs;
    while (processesNaming(directory).length > 0) {
      if (performance.now() > deadline) throw new Error(`processes of the servers in ${directory} did not end`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (!existsSync(directory)) continue;
    await before(directory);
    rmSync(directory, { recursive: true, force: true });
  }
}
