// vitest's set-up of tests with an API server: removes the files of servers that end with their worker.

import { removeEnded } from "../ended-directories.ts";

/** A file for each server that the files of a worker share, with the path of its directory. In the tests' own /run, so that each run has its own. */
export const serverRegistry = "/run/plexus-test-servers";

/** Answers the tear-down. */
// vitest looks for the name `setup`.
export function setup(): () => Promise<void> {
  return () => removeEnded(serverRegistry);
}
