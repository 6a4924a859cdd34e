// The data of the page `plexusctl ui`, from plexusctl to the browser. This file imports nothing, because the browser's code is compiled
// without the types of Node.

/** An error with the remedy of its kind. */
export interface PageFault {
  readonly fault: string;
  /** CNI error code. */
  readonly code: number;
  readonly msg: string;
  readonly remedy: string;
}

/** The daemon's own state. */
export interface PageDaemon {
  readonly version: string;
  readonly pid: number;
  /** Start, ISO 8601. */
  readonly since: string;
  readonly ready: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly message: string }[];
  readonly queue: {
    readonly active: number;
    readonly waiting: number;
    readonly mostActive: number;
    readonly mostWaiting: number;
  };
  readonly sandboxes: { readonly idle: number; readonly busy: number; readonly starting: number; readonly restarts: number };
  /** Sentences of the daemon's parts. */
  readonly information: readonly { readonly name: string; readonly text: string }[];
}

/** One network of one pod. */
export interface PageAttachment {
  /** `namespace/name`; empty if the runtime named no pod. */
  readonly pod: string;
  readonly container: string;
  readonly ifname: string;
  readonly network: string;
  /** `default`, or `namespace/name` of the definition. */
  readonly source: string;
  readonly addresses: readonly string[];
  readonly state: string;
  /** Start of the ADD, ISO 8601; null if it is not known. */
  readonly since: string | null;
  /** Number of failed DELs. */
  readonly failures: number;
  /** Error of the last failed DEL. */
  readonly why: string | null;
}

/** A network with attachments. */
export interface PageNetwork {
  readonly name: string;
  readonly source: string;
  readonly chain: readonly string[];
  readonly links: readonly PageLink[];
  /** Directories of its pools. */
  readonly pools: readonly string[];
  readonly attachments: number;
}

/** A link of the node that a network uses. */
export interface PageLink {
  readonly kind: "bridge" | "parent";
  readonly name: string;
  readonly type: string;
}

/** An address pool. */
export interface PagePool {
  readonly directory: string;
  readonly used: number;
  /** Null if it is not known. */
  readonly size: number | null;
}

/** A failed call, and how often it failed in this way. */
export interface PageFailure extends PageFault {
  /** Time of the last failure, ISO 8601. */
  readonly time: string;
  readonly request: string;
  readonly verb: string;
  readonly pod: string;
  readonly container: string;
  readonly network: string;
  readonly times: number;
}

/** A step of a call. */
export interface PageStep {
  readonly network: string;
  readonly ifname: string;
  readonly verb: string;
  readonly type: string;
  readonly kind: "native" | "wasm";
  /** Whether a plugin called it, for example as its `ipam.type`. */
  readonly nested: boolean;
  /** From the call's start, in ms. */
  readonly startMs: number;
  readonly ms: number;
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
export interface PageCall {
  readonly request: string;
  /** Start, ISO 8601. */
  readonly time: string;
  readonly verb: string;
  readonly pod: string;
  readonly container: string;
  readonly ifname: string;
  readonly network: string;
  readonly ms: number;
  readonly running: boolean;
  readonly failure: PageFault | null;
  readonly steps: readonly PageStep[];
  readonly moreSteps: number;
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
  readonly daemon: PageDaemon | null;
  readonly silence: string | null;
  readonly attachments: readonly PageAttachment[];
  /** Number of attachments that are left out. */
  readonly moreAttachments: number;
  readonly networks: readonly PageNetwork[];
  readonly pools: readonly PagePool[];
  readonly failures: readonly PageFailure[];
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
