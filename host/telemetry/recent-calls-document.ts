// The document of the daemon's last calls, for `plexusctl ui`. This file has types only: the page shows the calls in a browser.

import type { ReportedFault } from "./status-document.ts";

/** A step that has ended. */
export interface RecentStep {
  readonly network: string;
  readonly ifname: string;
  readonly verb: string;
  readonly type: string;
  readonly kind: "native" | "wasm";
  /** Whether a plugin called it, for example as its `ipam.type`. */
  readonly nested: boolean;
  /** From the call's start to the step's start, in ms. */
  readonly startMs: number;
  readonly ms: number;
  /** Null if the step succeeded. */
  readonly failure: ReportedFault | null;
}

/** Names of a call, from the environment of its request. */
export interface CallNames {
  /** The call's id in the log. */
  readonly request: string;
  readonly verb: string;
  /** `namespace/name`; empty if the runtime named no pod. */
  readonly pod: string;
  readonly container: string;
  readonly ifname: string;
}

/** A call of a runtime. */
export interface RecentCall extends CallNames {
  /** Start of the call, ISO 8601. */
  readonly time: string;
  /** The network of Plexus' own configuration; empty while it is not read. */
  readonly network: string;
  /** From the start to the answer, or until now for a call that runs. */
  readonly ms: number;
  readonly running: boolean;
  /** Null if the call succeeded or runs. */
  readonly failure: ReportedFault | null;
  /** The steps in the order of their ends. */
  readonly steps: readonly RecentStep[];
  /** Number of steps that are left out: a call keeps at most 64. */
  readonly moreSteps: number;
}

/** The document that the daemon serves. */
export interface RecentCallsDocument {
  readonly apiVersion: "plexus/v1";
  readonly kind: "RecentCalls";
  /** Time of the document, ISO 8601. */
  readonly time: string;
  /** Running calls first, then ended ones, the latest of each first. */
  readonly calls: readonly RecentCall[];
}
