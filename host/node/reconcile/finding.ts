// The result of a reconciler round, as data: for the log, the metrics, the status and `plexusctl reconcile`.

import type { Doubt, Staleness } from "../../../src/reconcile/judge-entry.ts";

/** All kinds of findings. */
export const findingKinds = ["attachment", "damaged", "abandoned", "lease", "leftover", "link"] as const;

/**
 * `attachment`: a journal entry that is or seems stale. `damaged`: a journal entry that cannot be read. `abandoned`: an attachment whose DEL
 * was given up. `lease`: an address whose owner no journal entry has. `leftover`: files of killed calls. `link`: a living attachment has lost a
 * link of the node.
 */
export type FindingKind = (typeof findingKinds)[number];

/** Reasons of findings. */
export type FindingReason =
  | Staleness
  | Doubt
  /** The DEL was given up. */
  | "given-up"
  /** The attachment was undone, but its lease remains. */
  | "kept-lease"
  /** The journal never had the lease's owner. */
  | "not-ours"
  /** The lease's content is lost, so it names no owner. */
  | "ownerless"
  | "unreadable"
  | "killed-call"
  /** The node's end of the attachment's veth, the link below the pod's, or its bridge is gone. */
  | "lost-link";

/**
 * The outcome of a round for a finding. `reported`: nothing done, because the finding is not provably stale or belongs to another program. `dry-run`: nothing done,
 * because the round was a dry run. `cleaned`: undone or removed. `given-up`: undoing failed too often, so the attachment is abandoned now.
 * `failed`: undoing failed, a later round tries again. `busy`: a call held the container's lock, or the finding changed meanwhile.
 * `waiting`: its DEL needs a native plugin, and the agent runs none, so a call of the runtime undoes it. `postponed`: the round had no time left, or calls of the runtime were waiting. `paused`: the pause after a failure is not over.
 */
export const handlings = [
  "reported",
  "dry-run",
  "cleaned",
  "given-up",
  "failed",
  "busy",
  "waiting",
  "postponed",
  "paused",
] as const;

/** See `handlings`. */
export type Handling = (typeof handlings)[number];

/** The outcome for one finding; `note` as in Finding. */
export interface Handled {
  readonly handling: Handling;
  readonly note?: string;
}

/** The kind of a finding, and its handling. */
export interface HandledKind {
  readonly kind: FindingKind;
  readonly handling: Handling;
}

/** An attachment, lease or link that a round found, with the round's action on it. */
export interface Finding extends HandledKind {
  /** The state directory (`cniDir`). */
  readonly directory: string;
  /** The file's path, or the name of the journal entry. */
  readonly id: string;
  readonly why: FindingReason;
  /** A text for a person: why the finding was not cleaned, or what failed. */
  readonly note?: string;
}

/** The report of one round over all state directories. */
export interface RoundReport {
  /** Start of the round, ISO 8601. */
  readonly started: string;
  readonly ms: number;
  /** Whether an agent is connected. A round without an agent cleans nothing. */
  readonly agent: boolean;
  readonly dryRun: boolean;
  /** Number of journal entries. */
  readonly entries: number;
  readonly findings: readonly Finding[];
  /** Errors that prevented a look, such as a directory that cannot be read. */
  readonly problems: readonly string[];
}

/** The finding as one line for the log. */
export function sentenceOf({ kind, directory, id, why, handling, note }: Finding): string {
  const detail = note === undefined ? "" : `: ${note}`;
  return `${phrases[kind]} ${id} (${directory}): ${reasons[why]}; ${outcomes[handling]}${detail}`;
}

/** The finding's reason as text. */
export function reasonOf({ why }: Finding): string {
  return reasons[why];
}

const phrases: Readonly<Record<FindingKind, string>> = {
  attachment: "attachment",
  damaged: "damaged journal entry",
  abandoned: "abandoned attachment",
  lease: "lease",
  leftover: "leftover files in",
  link: "link of attachment",
};

const reasons: Readonly<Record<FindingReason, string>> = {
  "earlier-boot": "made in an earlier boot",
  "namespace-gone": "network namespace is gone",
  deleted: "the runtime's DEL did not finish",
  "boot-unclear": "boot id differs, but the ADD began after this boot",
  unseen: "the agent cannot look at the network namespace",
  unsighted: "the agent has seen no network namespace of the runtime",
  "no-namespace": "the agent finds something else than a network namespace at CNI_NETNS",
  "process-path": "network namespace is gone, but CNI_NETNS has a process number, which may be reused",
  grace: "grace period is not over",
  unfinished: "ADD was interrupted, but the network namespace exists",
  "given-up": "DEL was given up",
  "kept-lease": "attachment was undone, but its lease remains",
  "not-ours": "owner is not in the journal",
  ownerless: "lease has no owner, because its content was lost",
  unreadable: "cannot be read",
  "killed-call": "left by killed calls",
  "lost-link":
    "the pod has lost this network, because a link of the node is gone; linkWatch.repair attaches the pod again, otherwise create the pod anew",
};

const outcomes: Readonly<Record<Handling, string>> = {
  reported: "not changed",
  "dry-run": "would be cleaned (dry run)",
  cleaned: "cleaned",
  "given-up": "undoing failed too often, so the attachment is abandoned",
  failed: "undoing failed, a later round tries again",
  busy: "skipped, because a call uses it or has changed it",
  waiting: "waits for the next ADD, DEL or GC of the runtime, which undoes it",
  postponed: "postponed to the next round",
  paused: "paused until the next try",
};
