// The status document that the daemon serves to plexusctl. Only root and the daemon's user may read it, because it names pods. This file has types
// only: the page of `plexusctl ui` shows the document in a browser.

import type { FaultKind } from "../../src/fault/catalogue.ts";
import type { NodeState } from "../node/state/node-state.ts";

/** A fault with the remedy of its kind. */
export interface ReportedFault {
  readonly fault: FaultKind;
  /** CNI error code. */
  readonly code: number;
  readonly msg: string;
  readonly remedy: string;
}

/** One check and its result. */
export interface ReadinessCheck extends CheckResult {
  readonly name: "socket" | "sandbox" | "journal" | "configuration";
}

/** The result of a check. */
export interface CheckResult {
  readonly ok: boolean;
  /** The result in one line. */
  readonly message: string;
}

/** All checks; ready if all succeed. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: readonly ReadinessCheck[];
}

/** A failed call. */
export interface Failure extends ReportedFault {
  /** Time of the last failure, ISO 8601. */
  readonly time: string;
  /** The call's id in the log. */
  readonly request: string;
  readonly verb: string;
  /** `namespace/name`; empty if the runtime named no pod. */
  readonly pod: string;
  readonly container: string;
  readonly network: string;
  /** Number of times that this call failed in this way: a runtime repeats a failed call. */
  readonly times: number;
}

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
