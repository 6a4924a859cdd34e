// The node of a daemon's own work: what the daemon has for its life, as the work sees it that no call of a runtime asks for. It finds the containers in the state
// directories, acts through the agent, and excludes itself from calls by their locks.

import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { TakeLock } from "../store/locks/file-lock.ts";
import type { Clock } from "../system/clock.ts";
import type { Agent } from "./agent-call.ts";

/** The node of a daemon's own work. */
export interface ResidentNode {
  /** The state directories (`cniDir`) whose containers may be changed. */
  readonly directories: readonly string[];
  /** The agent that is connected now. */
  readonly agent: () => Agent | undefined;
  readonly takeLock: TakeLock;
  readonly clock: Clock;
  /** Begins to report changes of pods in the source that the configuration names; `onManifests` follows a change of its directory of manifests. */
  readonly watch: (configuration: HostConfiguration, onManifests: () => void) => Promise<void>;
  readonly log: (level: "info" | "warn", text: string) => void;
}
