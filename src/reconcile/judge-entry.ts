// Whether what a journal entry attached may be taken away although nobody asked for it (RT-02, RT-10). A wrong answer cuts a running
// pod off, so an entry is stale only where two independent facts say so; what merely looks stale is told and left alone.

/** What is known of an entry of the journal. */
export interface EntryFacts {
  /** The kernel's boot id at its ADD; empty: not known. */
  readonly bootId: string;
  /** Path of the namespace; empty where a DEL put the entry together, which found none. */
  readonly netns: string;
  /** When its ADD began, or, where that isn't known, anything was last written to it; milliseconds of the time of day. */
  readonly begunMs: number;
  /** When anything was last written to it, as that. */
  readonly touchedMs: number;
  /** Whether its ADD was answered with success. */
  readonly closed: boolean;
}

/** What resident hands see under the entry's path now; `other`: something that is no namespace. */
export type Seen = "there" | "gone" | "other" | "unknown";

/** What is known of the machine, and of this entry's namespace. */
export interface Circumstances {
  readonly bootId: string;
  /** When this boot began; milliseconds of the time of day. */
  readonly bootedMs: number;
  readonly nowMs: number;
  readonly seen: Seen;
  /** For how long every look found the namespace gone, in ms of a clock that never goes back; 0 at the first one. */
  readonly goneMs: number;
  /** For how long every look found the entry's file as it is, as that: the time of day may have been years ahead at its last write. */
  readonly quietMs: number;
  /** Whether the hands are known to see the namespaces that the runtime makes (see `Sight`). */
  readonly sighted: boolean;
  readonly graceMs: number;
}

export type Staleness =
  /** The machine was started anew since. */
  | "earlier-boot"
  /** Its namespace was there and is gone. */
  | "namespace-gone"
  /** The runtime deleted it, and did not see that to its end. */
  | "deleted";

export type Doubt =
  /** Another boot's by its id, but made since this one began. */
  | "boot-unclear"
  /** No resident hands, or they could not look. */
  | "unseen"
  /** Gone as these hands see it, but they were never seen to see one that the runtime made. */
  | "unsighted"
  /** `/proc/PID/ns/net`: the number may be another process', or of another table of processes. */
  | "process-path"
  /**
   * Something stands there that is no namespace, as where the runtime's mounts don't come to the hands: they see the file that the
   * runtime mounted a namespace on.
   */
  | "no-namespace"
  /** Gone, but not for long enough. */
  | "grace"
  /** Its ADD broke off, and its namespace is there: the runtime's DEL is due. */
  | "unfinished";

export type Verdict =
  | { readonly what: "live" }
  | { readonly what: "stale"; readonly why: Staleness }
  | { readonly what: "doubtful"; readonly why: Doubt };

/** Judges one entry. */
export function judgeEntry(entry: EntryFacts, now: Circumstances): Verdict {
  const ago = now.nowMs - entry.touchedMs;
  const settled = ago >= now.graceMs || (ago < 0 && now.quietMs > 0 && now.quietMs >= now.graceMs);
  if (entry.netns === "") {
    if (now.seen === "unknown") return doubtful("unseen");
    return settled ? stale("deleted") : doubtful("grace");
  }
  // A container manager may show a boot id of its own: the time of the ADD has to agree. Where it doesn't (a clock that was ahead, say),
  // what is proven of this boot's entries has to be proven.
  const another = entry.bootId !== "" && now.bootId !== "" && entry.bootId !== now.bootId;
  if (another && entry.begunMs < now.bootedMs) return stale("earlier-boot");
  if (another && now.seen !== "gone") return doubtful("boot-unclear");
  if (now.seen === "unknown") return doubtful("unseen");
  if (now.seen === "there") return entry.closed || !settled ? { what: "live" } : doubtful("unfinished");
  if (now.seen === "other") return doubtful("no-namespace");
  if (entry.netns.startsWith("/proc/")) return doubtful("process-path");
  if (!now.sighted) return doubtful("unsighted");
  return settled && now.goneMs > 0 && now.goneMs >= now.graceMs ? stale("namespace-gone") : doubtful("grace");
}

function stale(why: Staleness): Verdict {
  return { what: "stale", why };
}

function doubtful(why: Doubt): Verdict {
  return { what: "doubtful", why };
}
