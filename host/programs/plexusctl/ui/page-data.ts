// The data of the page `plexusctl ui`, from plexusctl to the browser: the daemon's documents, bounded and with what plexusctl adds. This file has types
// only, because the browser's code is compiled without the types of Node.

import type { BothDirections } from "../../../../src/net/link-traffic.ts";
import type { AttachmentState, NetworkState, PoolState } from "../../../node/state/node-state.ts";
import type { RecentCall, RecentStep } from "../../../telemetry/recent-calls-document.ts";
import type { DaemonStatus, Failure, ReportedFault } from "../../../telemetry/status-document.ts";

/** A fault as the page shows it. A recorded call has only the runtime's answer, without a kind. */
export interface PageFault extends Omit<ReportedFault, "fault"> {
  readonly fault: string;
}

/** A step of a call. */
export interface PageStep extends Omit<RecentStep, "failure"> {
  readonly failure: PageFault | null;
  /** The changes by its result; null without a recording, and for a step without a result. */
  readonly changes: readonly PageChange[] | null;
}

/** A change of the result. */
export interface PageChange {
  /** A JSON pointer. */
  readonly path: string;
  /** The value as JSON; null if there was none. */
  readonly before: string | null;
  /** The value as JSON; null if it was removed. */
  readonly after: string | null;
}

/** A call of a runtime. */
export interface PageCall extends Omit<RecentCall, "failure" | "steps"> {
  readonly failure: PageFault | null;
  readonly steps: readonly PageStep[];
  /** The name of the chain trace's file; null if the call was not recorded. */
  readonly recorded: string | null;
}

/** A capability that a component declares. */
export interface PageCapability {
  readonly name: string;
  /** The author's reason. */
  readonly reason: string;
  readonly imported: boolean;
  /** The administrator's scopes as JSON; null if it is not granted. */
  readonly granted: string | null;
}

/** An attachment. */
export interface PageAttachment extends AttachmentState {
  /** Its traffic per second; absent if the daemon does not count it. */
  readonly traffic?: BothDirections;
}

/** A plugin of the node's networks: a component with its grants, or a native binary. */
export interface PagePlugin {
  readonly type: string;
  readonly kind: "native" | "component" | "missing";
  readonly path: string | null;
  readonly digest: string | null;
  readonly delegate: { readonly name: string; readonly version: string; readonly abi: string; readonly about: string } | null;
  readonly capabilities: readonly PageCapability[];
  /** Imported, but not granted. */
  readonly missing: readonly string[];
  /** Granted, but not declared. */
  readonly idle: readonly string[];
  readonly limits: readonly { readonly name: string; readonly value: number }[];
  readonly problem: PageFault | null;
  /** The networks that use it with these grants. */
  readonly networks: readonly string[];
}

/** The present state of one node. */
export interface PageData {
  /** Time of the data, ISO 8601. */
  readonly time: string;
  readonly node: string;
  /** Null if no daemon answers; `silence` has the reason. */
  readonly daemon: DaemonStatus | null;
  readonly silence: string | null;
  readonly attachments: readonly PageAttachment[];
  /** Number of attachments that are left out. */
  readonly moreAttachments: number;
  readonly networks: readonly NetworkState[];
  readonly pools: readonly PoolState[];
  readonly failures: readonly Failure[];
  /** Running calls first, then the latest ones; null if none is known. */
  readonly calls: readonly PageCall[] | null;
  /** The reason why the daemon's calls are not known: then `calls` has only recorded ones. */
  readonly callsUnknown: string | null;
  /** Null if they are not known; `pluginsUnknown` has the reason. */
  readonly plugins: readonly PagePlugin[] | null;
  readonly pluginsUnknown: string | null;
  /** Problems with reading the node's state. */
  readonly problems: readonly string[];
}
