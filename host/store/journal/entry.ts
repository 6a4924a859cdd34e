// What the journal keeps for one call of the runtime: enough to undo every attempted attachment byte for byte, with the
// API down, the definition deleted and the host restarted (CNI section 3: a configuration must not change between ADD and DEL).

/** One attachment as it was planned, before its first step ran. */
export interface PlannedAttachment {
  /** The network's name, as its plugins see it. */
  readonly network: string;
  readonly ifname: string;
  /** Where the configuration came from: `default`, or `namespace/name` of the NetworkAttachmentDefinition. */
  readonly source: string;
  /** The configuration list, exactly as planned; empty: the default network as it is configured when it is undone. */
  readonly conflist: string;
  /** Capability arguments: name to raw JSON text. */
  readonly capabilityArgs: Readonly<Record<string, string>>;
  /** `CNI_ARGS` of its plugins, where they are others than the call's. */
  readonly cniArgs?: string;
}

/** The first line of an entry: who, and everything that will be attempted, in order. */
export interface JournalPlan {
  readonly kind: "plexusJournalV1";
  readonly containerId: string;
  /** Name of the network configuration under which the runtime called. */
  readonly network: string;
  readonly ifname: string;
  readonly netns: string;
  /** `CNI_ARGS` as given. */
  readonly cniArgs: string;
  readonly cniPath: string;
  /** The kernel's boot id: an entry of another boot has lost its namespace. */
  readonly bootId: string;
  /** When the ADD began, ISO 8601; absent where the plan was put together by a DEL that found none. */
  readonly begun?: string;
  /** True where nothing but the configuration says that there may be something: an entry that counts DELs, and no more. */
  readonly assumed?: true;
  readonly attachments: readonly PlannedAttachment[];
}

/** How far one attachment came. */
export interface AttachmentProgress {
  readonly attempted: boolean;
  /** Raw JSON of the chain's final result, once it succeeded. */
  readonly result?: string;
  readonly undone: boolean;
}

export interface JournalEntry {
  readonly plan: JournalPlan;
  /** One for each attachment of the plan. */
  readonly progress: readonly AttachmentProgress[];
  /** True once the ADD was answered with success. */
  readonly closed: boolean;
  /** DELs that failed. */
  readonly failures: Failures;
}

export interface Failures {
  readonly count: number;
  /** When the first one failed, ISO 8601. */
  readonly since: string | undefined;
}

/** A later line of an entry. */
export type JournalRecord =
  | { readonly attempted: number }
  | { readonly attached: number; readonly result: string }
  | { readonly undone: number }
  | { readonly closed: true }
  /** A DEL failed: when (ISO 8601) and why. */
  | { readonly failed: string; readonly why: string };

/** The state that a plan and its records describe. */
export function replay(plan: JournalPlan, records: readonly JournalRecord[]): JournalEntry {
  const progress: AttachmentProgress[] = plan.attachments.map(() => ({ attempted: false, undone: false }));
  let closed = false;
  let failures: Failures = { count: 0, since: undefined };
  for (const record of records) {
    if ("failed" in record) {
      failures = { count: failures.count + 1, since: failures.since ?? record.failed };
      continue;
    }
    if ("closed" in record) {
      closed = true;
      continue;
    }
    const index = "attempted" in record ? record.attempted : "attached" in record ? record.attached : record.undone;
    const before = progress[index];
    if (before === undefined) continue;
    if ("attempted" in record) progress[index] = { ...before, attempted: true };
    else if ("attached" in record) progress[index] = { ...before, attempted: true, result: record.result };
    else progress[index] = { ...before, undone: true };
  }
  return { plan, progress, closed, failures };
}
