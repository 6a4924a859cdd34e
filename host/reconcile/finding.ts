// What a round of the reconciler found and did, as data: for the log, the metrics and whoever asks for the state of the node.

import type { Doubt, Staleness } from "../../src/reconcile/judge-entry.ts";

export const findingKinds = ["attachment", "damaged", "left-behind", "lease", "leftover"] as const;

/**
 * `attachment`: an entry of the journal that is or seems stale. `damaged`: one that can't be read. `left-behind`: a DEL that was given up.
 * `lease`: an address whose owner no entry knows. `leftover`: files of calls that were killed.
 */
export type FindingKind = (typeof findingKinds)[number];

/** Why it is one. */
export type FindingReason =
  | Staleness
  | Doubt
  /** A DEL was given up. */
  | "given-up"
  /** Of an attachment that was undone and kept its lease. */
  | "kept-lease"
  /** The journal knows nothing of its owner. */
  | "not-ours"
  | "unreadable"
  | "killed-call";

/**
 * What was done about it in a round. `reported`: it can't be proven, or is not ours. `dry-run`: it would have been cleaned. `given-up`: its
 * DEL was, and it is left behind now. `failed`: it is tried again later. `busy`: a call of its container was under way, or it has changed
 * since it was looked at. `postponed`: the round had no time left, or calls of the runtime were waiting. `paused`: the pause after a
 * failure is not over.
 */
export const handlings = ["reported", "dry-run", "cleaned", "given-up", "failed", "busy", "postponed", "paused"] as const;

export type Handling = (typeof handlings)[number];

export interface Finding {
  readonly kind: FindingKind;
  /** The state directory that it was found for. */
  readonly directory: string;
  /** Which one: a file's path, or the name of the journal's entry. */
  readonly id: string;
  readonly why: FindingReason;
  readonly handling: Handling;
  /** For a person: why it was not cleaned, or what failed. */
  readonly note?: string;
}

export interface RoundReport {
  /** ISO 8601. */
  readonly started: string;
  readonly ms: number;
  /** Whether resident hands were there: without them nothing is cleaned. */
  readonly hands: boolean;
  readonly dryRun: boolean;
  /** Entries of the journals. */
  readonly entries: number;
  readonly findings: readonly Finding[];
  /** What kept the round from looking at all: a directory that can't be read. */
  readonly problems: readonly string[];
}

/** One sentence for the log. */
export function sentenceOf({ kind, directory, id, why, handling, note }: Finding): string {
  const told = note === undefined ? "" : `: ${note}`;
  return `${phrases[kind]} ${id} (${directory}), ${reasons[why]}: ${done[handling]}${told}`;
}

/** Why it is one, as a clause for a person. */
export function reasonOf({ why }: Finding): string {
  return reasons[why];
}

const phrases: Readonly<Record<FindingKind, string>> = {
  attachment: "attachment",
  damaged: "damaged journal entry",
  "left-behind": "left behind",
  lease: "lease",
  leftover: "what killed calls left in",
};

const reasons: Readonly<Record<FindingReason, string>> = {
  "earlier-boot": "of an earlier boot",
  "namespace-gone": "whose namespace is gone",
  deleted: "which the runtime deleted and which is not undone",
  "boot-unclear": "of another boot by its boot id, but made since this one began",
  unseen: "whose namespace can't be looked at",
  unsighted: "whose namespace the resident hands don't see, as they have seen none that the runtime made",
  "no-namespace": "under whose namespace's path the resident hands see something that is none",
  "process-path": "whose namespace is gone, but was named by a process number, which may be another table's",
  grace: "whose namespace has been gone for less than the grace period",
  unfinished: "whose ADD broke off, while its namespace is there",
  "given-up": "of a DEL that was given up",
  "kept-lease": "of an attachment that was undone",
  "not-ours": "of an owner that the journal doesn't know",
  unreadable: "which can't be read",
  "killed-call": "without a call that they belong to",
};

const done: Readonly<Record<Handling, string>> = {
  reported: "left alone",
  "dry-run": "would be cleaned, but this is a dry run",
  cleaned: "cleaned",
  "given-up": "undoing it was given up, and it is left behind",
  failed: "undoing it failed, and is tried again later",
  busy: "left to the call that is under way",
  postponed: "left to the next round",
  paused: "waits for its next try",
};
