// The steps of Plexus' removal from a node through its daemon, and the daemon's report after each.

import type { Standing } from "../cni-configuration/configuration-writer.ts";
import type { PodOfPlexus } from "./pods-of-plexus.ts";

/**
 * `begin`: new pods get the default network only. `cancel`: they get their networks again. `finish`: the network configuration is
 * removed, so the runtime uses the node's next one.
 */
export const retireSteps = ["begin", "cancel", "finish"] as const;
/** See `retireSteps`. */
export type RetireStep = (typeof retireSteps)[number];

/** The daemon's report. */
export interface RetireReport {
  /** Path of the network configuration that the daemon writes. */
  readonly configuration: string;
  /** `in-force`: new pods get their networks; `retired`: the default network only; `withdrawn`: the configuration is removed. */
  readonly standing: Standing;
  /** The live pods whose DEL needs Plexus. */
  readonly pods: readonly PodOfPlexus[];
  /** Why the step had no effect, or why pods may be missing; one sentence each. */
  readonly problems: readonly string[];
}
