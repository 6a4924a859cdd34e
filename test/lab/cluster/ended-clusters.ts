// vitest's set-up of the tests on a cluster: removes the files of clusters that end with their worker.

import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { processesNaming } from "../processes.ts";
import { removeCgroups } from "./cgroups.ts";
import { cgroupOf } from "./machine.ts";

/** A file for each cluster that the files of a worker share, with the path of the cluster's directory. In the tests' own /run. */
export const clusterRegistry = "/run/plexus-test-clusters";

/** How long the processes of a cluster may outlive their worker. */
const endMs = 60_000;

/** Answers the tear-down. */
// vitest looks for the name `setup`.
export function setup(): () => Promise<void> {
  return async () => {
    if (!existsSync(clusterRegistry)) return;
    for (const name of readdirSync(clusterRegistry)) {
      const directory = readFileSync(join(clusterRegistry, name), "utf8");
      const deadline = performance.now() + endMs;
      while (processesNaming(directory).length > 0) {
        if (performance.now() > deadline) throw new Error(`processes of the cluster in ${directory} did not end`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      if (!existsSync(directory)) continue;
      for (const node of readdirSync(directory).filter((each) => each.startsWith("node-")))
        await removeCgroups(cgroupOf(join(directory, node)));
      rmSync(directory, { recursive: true, force: true });
    }
  };
}
