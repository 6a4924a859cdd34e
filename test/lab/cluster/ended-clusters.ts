// vitest's set-up of the tests on a cluster: removes the files of clusters that end with their worker.

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { removeEnded } from "../ended-directories.ts";
import { removeCgroups } from "./cgroups.ts";
import { cgroupOf } from "./machine.ts";

/** A file for each cluster that the files of a worker share, with the path of the cluster's directory. In the tests' own /run. */
export const clusterRegistry = "/run/plexus-test-clusters";

/** Answers the tear-down. */
// vitest looks for the name `setup`.
export function setup(): () => Promise<void> {
  return () =>
    removeEnded(clusterRegistry, async (directory) => {
      for (const node of readdirSync(directory).filter((each) => each.startsWith("node-")))
        await removeCgroups(cgroupOf(join(directory, node)));
    });
}
