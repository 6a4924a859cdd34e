// What the daemon tells plexusctl: one JSON document, for root and its own user only, because it names pods.

import type { NodeState } from "../node-state/node-state.ts";
import type { Readiness } from "./readiness.ts";
import type { Failure } from "./recent-failures.ts";

export interface DaemonStatus extends Readiness {
  readonly version: string;
  readonly pid: number;
  /** When it started, ISO 8601. */
  readonly since: string;
  readonly socket: string;
  readonly queue: {
    readonly active: number;
    readonly waiting: number;
    readonly mostActive: number;
    readonly mostWaiting: number;
  };
  readonly sandboxes: { readonly idle: number; readonly busy: number; readonly starting: number; readonly restarts: number };
  /** What others of the daemon's parts have to say, by name; for people. */
  readonly information: Readonly<Record<string, string>>;
}

export interface StatusDocument {
  readonly apiVersion: "plexus/v1";
  readonly kind: "NodeStatus";
  /** When it was written, ISO 8601. */
  readonly time: string;
  /** Null where no daemon answers. */
  readonly daemon: DaemonStatus | null;
  /** One for each state directory. */
  readonly nodes: readonly NodeState[];
  /** The latest first. */
  readonly failures: readonly Failure[];
}
