// The steps of Plexus' removal from a node through its daemon, and the daemon's report after each.

import type { Standing } from "../cni-configuration/written-state.ts";
import type { PodOfPlexus } from "./pods-of-plexus.ts";

/**
 * `begin`: new pods get the default network only. `cancel`: they get their networks again. `finish`: the network configuration is
 * removed, so the runtime uses the node's next one. `report`: nothing changes.
 */
export const removalSteps = ["begin", "cancel", "finish", "report"] as const;
/** See `removalSteps`. */
export type RemovalStep = (typeof removalSteps)[number];

/**
 * The suffix of a request's query for a held removal: the daemon ends the removal a minute after the last request with this suffix. So a hook that is
 * killed leaves no node without networks.
 */
export const heldQuery = "&held";

/** The daemon's report. */
export interface RemovalReport {
  /** Path of the network configuration that the daemon writes. */
  readonly configuration: string;
  /** `in-force`: new pods get their networks; `retired`: the default network only; `withdrawn`: the configuration is removed. */
  readonly standing: Standing;
  /** The live pods whose DEL needs Plexus. */
  readonly pods: readonly PodOfPlexus[];
  /** The number of live pods that Plexus attached to the default network only. */
  readonly defaultOnly: number;
  /** The number of unanswered calls that may attach further networks: the runtime began them before it read the changed configuration. */
  readonly calls: number;
  /** The runtime's name and version (`containerd://2.0.0`); null: unknown, or the step is not `report`. */
  readonly runtime: string | null;
  /** Why the step had no effect, or why pods may be missing; one sentence each. */
  readonly problems: readonly string[];
}
