// The state of this node as recorded in the state directory: the journal's attachments, abandoned attachments, and address pools. The daemon
// and plexusctl read it; plexusctl needs no daemon for that.

/** One attachment of the journal. */
export interface AttachmentState {
  /** `namespace/name`; empty if the runtime named no pod. */
  readonly pod: string;
  readonly container: string;
  readonly ifname: string;
  readonly network: string;
  /** `default`, or `namespace/name` of the NetworkAttachmentDefinition. */
  readonly source: string;
  readonly addresses: readonly string[];
  /** `unknown`: no ADD is known, and DEL fails. */
  readonly state: "attached" | "attaching" | "not begun" | "detached" | "abandoned" | "unknown";
  /** Start of the ADD, ISO 8601. */
  readonly since: string | undefined;
  /** Number of failed DELs. */
  readonly failures: number;
  /** Error of the last failed DEL. */
  readonly why: string | undefined;
}

/** One network with attachments. */
export interface NetworkState {
  readonly name: string;
  readonly source: string;
  /** Types of its plugins; `bridge/host-local` is bridge with the IPAM plugin host-local. */
  readonly chain: readonly string[];
  /** Links of the node on which its plugins attach pods, from its configuration. */
  readonly links: readonly NetworkLink[];
  /** Directories of its address pools, as in `PoolState`. */
  readonly pools: readonly string[];
  readonly attachments: number;
}

/** A link of the node that a network uses. */
export interface NetworkLink {
  /** `bridge`: pods are its ports. `parent`: the pods' links lie on it, for example those of macvlan. */
  readonly kind: "bridge" | "parent";
  readonly name: string;
  /** The type of the plugin that uses it. */
  readonly type: string;
}

/** One address pool: a directory of leases. */
export interface PoolState {
  readonly directory: string;
  /** Number of reserved addresses. */
  readonly used: number;
  /** Number of addresses in the pool; undefined if no attachment's configuration defines it. */
  readonly size: number | undefined;
}

/** Number and size of files. */
export interface EntryCounts {
  readonly entries: number;
  readonly bytes: number;
}

/** The state in one state directory. */
export interface NodeState {
  readonly stateDirectory: string;
  readonly journal: EntryCounts;
  readonly abandoned: EntryCounts;
  readonly attachments: readonly AttachmentState[];
  readonly networks: readonly NetworkState[];
  readonly pools: readonly PoolState[];
  /** Files and directories that could not be read, a sentence for each. */
  readonly problems: readonly string[];
}
