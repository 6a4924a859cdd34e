// The status document that the daemon serves to plexusctl. Only root and the daemon's user may read it, because it names pods.

import type { NodeState } from "../node/state/node-state.ts";
import type { Readiness } from "./readiness.ts";
import type { Failure } from "./recent-failures.ts";

/** The daemon's part of the document. */
export interface DaemonStatus extends Readiness {
  readonly version: string;
  readonly pid: number;
  /** Start of the daemon, ISO 8601. */
  readonly since: string;
  readonly socket: string;
  readonly queue: {
    readonly active: number;
    readonly waiting: number;
    readonly mostActive: number;
    readonly mostWaiting: number;
  };
  readonly sandboxes: { readonly idle: number; readonly busy: number; readonly starting: number; readonly restarts: number };
  /** The level of isolation of the sandbox processes, and the controls of their jail that this node lacks. */
  readonly isolation: { readonly level: "process" | "strict"; readonly missing: readonly string[] };
  /** A sentence for a person from other parts of the daemon, by the part's name. */
  readonly information: Readonly<Record<string, string>>;
}

/** The document. */
export interface StatusDocument {
  readonly apiVersion: "plexus/v1";
  readonly kind: "NodeStatus";
  /** Time of the document, ISO 8601. */
  readonly time: string;
  /** Null if no daemon answers. */
  readonly daemon: DaemonStatus | null;
  /** One element for each state directory. */
  readonly nodes: readonly NodeState[];
  /** The last failed calls, latest first. */
  readonly failures: readonly Failure[];
}
