// Decides whether the attachments of a journal entry can be removed without a DEL from the runtime (RT-02, RT-10). A wrong answer
// disconnects a running pod, so an entry is stale only if two independent facts say so. An entry that merely looks stale is
// reported and kept.

/** The known facts about a journal entry. */
export interface EntryFacts {
  /** The kernel's boot id at the entry's ADD; empty if unknown. */
  readonly bootId: string;
  /** Path of the network namespace; empty if the entry was made by a DEL that had no journal entry. */
  readonly netns: string;
  /** Start of the ADD, or, if unknown, the last write to the entry; milliseconds of the time of day. */
  readonly begunAt: number;
  /** The last write to the entry; milliseconds of the time of day. */
  readonly touchedAt: number;
  /** Whether its ADD was answered with success. */
  readonly closed: boolean;
  /** Whether no attachment of it stands: each was undone, or failed in its ADD. No pod runs with such an entry. */
  readonly neverAttached?: boolean;
  /** When its DEL failed first, in milliseconds of the time of day: survives a restart of the daemon. */
  readonly failedSince?: number;
}

/** The agent's current view of the entry's path; `other`: the path is not a network namespace. */
export type Seen = "there" | "gone" | "other" | "unknown";

/** The known facts about the machine and about this entry's network namespace. */
export interface Circumstances {
  readonly bootId: string;
  /** Start of this boot; milliseconds of the time of day. */
  readonly bootedAt: number;
  readonly nowMs: number;
  readonly seen: Seen;
  /** Time for which every look has found the namespace gone, in milliseconds of a monotonic clock; 0 at the first look. */
  readonly goneMs: number;
  /**
   * Time for which every look has found the entry's file unchanged, in milliseconds of a monotonic clock: the time of day may have been
   * years ahead at the last write.
   */
  readonly quietMs: number;
  /** Whether the agent is known to see the runtime's network namespaces (see `Sight`). */
  readonly sighted: boolean;
  readonly graceMs: number;
}

/** Reasons why an entry is stale. */
export type Staleness =
  /** The machine was restarted after the ADD. */
  | "earlier-boot"
  /** The entry's network namespace existed and is gone. */
  | "namespace-gone"
  /** The runtime's DEL did not run to its end. */
  | "deleted";

/** Reasons why an entry is not provably stale. */
export type Doubt =
  /** The boot id differs from the current one, but the entry was made after this boot began. */
  | "boot-unclear"
  /** No agent is connected, or the agent could not look. */
  | "unseen"
  /** The agent finds the namespace gone, but was never seen to find a namespace of the runtime. */
  | "unsighted"
  /** `/proc/PID/ns/net`: the PID may belong to another process, or to another PID namespace. */
  | "process-path"
  /**
   * The path is not a network namespace. The agent sees the plain file below the runtime's mount, for example, if the runtime's
   * mounts are not propagated to it.
   */
  | "no-namespace"
  /** The namespace is gone, but not for long enough. */
  | "grace"
  /** The entry's ADD was interrupted, and the namespace exists: the runtime will send a DEL. */
  | "unfinished";

/** `live`: a pod uses the attachments. `stale`: they can be undone. `doubtful`: they are only reported. */
export type Verdict =
  | { readonly what: "live" }
  | { readonly what: "stale"; readonly why: Staleness }
  | { readonly what: "doubtful"; readonly why: Doubt };

/** Judges one entry. */
export function judgeEntry(entry: EntryFacts, now: Circumstances): Verdict {
  const ago = now.nowMs - entry.touchedAt;
  const settled = ago >= now.graceMs || (ago < 0 && now.quietMs > 0 && now.quietMs >= now.graceMs);
  if (entry.netns === "") {
    if (now.seen === "unknown") return doubtful("unseen");
    return settled ? stale("deleted") : doubtful("grace");
  }
  // A container manager may show its own boot id, so the time of the ADD has to agree. If the time does not agree (the clock was
  // ahead, for example), the entry needs the same proof as an entry of this boot.
  const another = entry.bootId !== "" && now.bootId !== "" && entry.bootId !== now.bootId;
  if (another && entry.begunAt < now.bootedAt) return stale("earlier-boot");
  if (another && now.seen !== "gone") return doubtful("boot-unclear");
  if (now.seen === "unknown") return doubtful("unseen");
  if (now.seen === "there") return entry.closed || !settled ? { what: "live" } : doubtful("unfinished");
  if (now.seen === "other") return doubtful("no-namespace");
  if (entry.neverAttached === true) return stale("namespace-gone");
  if (entry.netns.startsWith("/proc/")) return doubtful("process-path");
  if (!now.sighted) return doubtful("unsighted");
  const deletionMs = entry.failedSince === undefined ? 0 : now.nowMs - entry.failedSince;
  const gone = now.goneMs > 0 && Math.max(now.goneMs, deletionMs) >= now.graceMs;
  return settled && gone ? stale("namespace-gone") : doubtful("grace");
}

function stale(why: Staleness): Verdict {
  return { what: "stale", why };
}

function doubtful(why: Doubt): Verdict {
  return { what: "doubtful", why };
}
