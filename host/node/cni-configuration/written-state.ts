// The state of the file that plexusd writes into the runtime's directory, and Plexus' place on the node by it.

import type { Retirement } from "../../../src/configuration/written-configuration.ts";
import type { Fault } from "../../../src/fault/fault.ts";

/**
 * Plexus' place on the node. `retired`: the file says that new pods get the default network only. `withdrawn`: the file is removed, so the
 * runtime uses the node's next configuration.
 */
export type Standing = "in-force" | "retired" | "withdrawn";

/** The state of the file. */
export interface WrittenState {
  /** Whether the file is there, with the right content or with an edit that is restored later. */
  readonly written: boolean;
  /** Path of the default network's file in the written configuration. */
  readonly clusterNetwork: string | undefined;
  /** Types of other programs' steps in the file, which run after Plexus. */
  readonly steps: readonly string[];
  /** Types whose steps of the default network's list are left out, because the file has or had such a step of another program. */
  readonly omitted: readonly string[];
  readonly standing: Standing;
  /** The mark of Plexus' removal in the file; undefined unless `retired`. */
  readonly retirement: Retirement | undefined;
  /** The problem that keeps the configuration from being written or in force. */
  readonly problem: Fault | undefined;
}

/** The state of the directory at one look. */
export type FileState = Omit<WrittenState, "standing" | "retirement">;
