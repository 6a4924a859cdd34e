// What is attached on this node and what is left of what was, as the state directory says it: the journal, entries that were given up,
// and the pools of addresses. Read without blocking, by the daemon and by plexusctl, which needs no daemon for it.

/** One attachment of the journal. */
export interface AttachmentState {
  /** `namespace/name`; empty where the runtime named no pod. */
  readonly pod: string;
  readonly container: string;
  readonly ifname: string;
  readonly network: string;
  /** `default`, or `namespace/name` of its definition. */
  readonly source: string;
  readonly addresses: readonly string[];
  /** `unknown`: an ADD of it isn't known, and its DELs fail. */
  readonly state: "attached" | "attaching" | "not begun" | "detached" | "left behind" | "unknown";
  /** When its ADD began, ISO 8601. */
  readonly since: string | undefined;
  /** DELs that failed, and why the last one did. */
  readonly failures: number;
  readonly why: string | undefined;
}

/** One network that has attachments. */
export interface NetworkState {
  readonly name: string;
  readonly source: string;
  /** Types of its chain; `bridge/host-local` is bridge with that IPAM plugin. */
  readonly chain: readonly string[];
  readonly attachments: number;
}

export interface PoolState {
  readonly directory: string;
  /** Addresses reserved. */
  readonly used: number;
  /** Addresses that there are, where a configuration of an attachment says it. */
  readonly size: number | undefined;
}

export interface EntryCounts {
  readonly entries: number;
  readonly bytes: number;
}

export interface NodeState {
  readonly stateDirectory: string;
  readonly journal: EntryCounts;
  readonly leftBehind: EntryCounts;
  readonly attachments: readonly AttachmentState[];
  readonly networks: readonly NetworkState[];
  readonly pools: readonly PoolState[];
  /** What could not be read, a sentence each. */
  readonly problems: readonly string[];
}
