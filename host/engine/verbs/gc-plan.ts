// The first part of a GC: the stale journal entries at its beginning, and a DEL for each, one container after the other. The runtime made its list of valid attachments earlier, so an
// attachment of an ADD that runs later is never stale.

import { type AttachmentId, attachmentKey } from "../../../src/cni/attachment.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { type Result, ok } from "../../../src/fault/result.ts";
import type { JournalKey } from "../../store/journal/entry-file.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import { type Call, isOfAnotherBoot } from "../call.ts";
import type { CurrentNetworks } from "../plan/current-network.ts";
import { undoOrAbandon } from "./converge.ts";

/** Decides which attachments a GC may delete. */
export interface GcPlan {
  /** The runtime's list of valid attachments. */
  readonly valid: readonly AttachmentId[];
  readonly isValid: (id: AttachmentId) => boolean;
  /** The journalled calls of this configuration that are not valid. */
  readonly stale: readonly JournalKey[];
  /** The containers that the journal knew when the GC began. Only their leases may be freed. */
  readonly knownContainers: ReadonlySet<string>;
  /** Whether the key is stale and its entry has not changed since the plan was made. `undefined`: the entry is unreadable. */
  readonly isStale: (key: JournalKey, entry: JournalEntry | undefined) => boolean;
}

/** One running GC, with the faults so far. */
export interface GcRound {
  readonly call: Call;
  readonly plan: GcPlan;
  /** The networks as they are configured now. */
  readonly networks: CurrentNetworks;
  readonly faults: Fault[];
  /** Whether there is time for another step. A step without time counts as left for the next GC. */
  readonly hasTime: () => boolean;
}

/** Makes the plan from the journal and the runtime's list. Fault: STORE_FAILED if the journal cannot be listed. */
export function planGc(call: Call, valid: readonly AttachmentId[]): Result<GcPlan> {
  const listed = call.journal.list();
  if (!listed.ok) return listed;
  const validKeys = new Set(valid.map(attachmentKey));
  const isValid = (id: AttachmentId): boolean => validKeys.has(attachmentKey(id));
  const stale = listed.value.filter((key) => key.network === call.configuration.name && !isValid(key));
  const found = new Map(
    stale.map((key) => {
      const loaded = call.journal.load(key);
      return [attachmentKey(key), stateOf(loaded.ok ? loaded.value : undefined)];
    }),
  );
  const abandoned = call.abandoned.list();
  if (!abandoned.ok) return abandoned;
  const keys = [...listed.value, ...abandoned.value.map(({ key }) => key)];
  return ok({
    valid,
    knownContainers: new Set(keys.map(({ containerId }) => containerId)),
    isValid,
    stale,
    isStale: (key, entry) => key.network === call.configuration.name && found.get(attachmentKey(key)) === stateOf(entry),
  });
}

/** A text that changes when an ADD begins and when it succeeds. */
function stateOf(entry: JournalEntry | undefined): string {
  return entry === undefined ? "unreadable" : `${entry.plan.begun ?? ""} ${entry.closed}`;
}

/** Deletes the stale attachments of the round's plan, each under its container's lock. */
export async function clearStale(round: GcRound): Promise<void> {
  for (const key of round.plan.stale) {
    if (!round.hasTime()) continue;
    const held = await round.call.locks.container(key);
    if (!held.ok) {
      round.faults.push(held.fault);
      continue;
    }
    try {
      await clearOne(round, key);
    } finally {
      held.value();
    }
  }
}

async function clearOne({ call, plan, faults, networks }: GcRound, key: JournalKey): Promise<void> {
  const loaded = call.journal.load(key);
  if (!loaded.ok) {
    faults.push(loaded.fault.kind === "JOURNAL_UNREADABLE" ? quarantined(call, key, loaded.fault.msg) : loaded.fault);
    return;
  }
  const entry = loaded.value;
  // The container's DEL, or a new ADD, came after the plan was made.
  if (entry === undefined || !plan.isStale(key, entry)) return;
  // As in libcni (L-43), CNI_NETNS is the namespace of the ADD. Plugins accept a namespace that is gone.
  const undone = await undoOrAbandon(call, entry, isOfAnotherBoot(call, entry) ? "" : entry.plan.netns, {
    choose: (list, planned) => networks.mayCollect(list, planned),
    describe: (cause, { ifname }) => ({
      ...cause,
      msg: `failed to delete stale attachment ${key.containerId} ${ifname}: ${cause.msg}`,
    }),
  });
  if (undone.ok) return;
  // The entry of an unknown container only counts failed DELs. Its failure does not make the GC of the others fail.
  if (entry.plan.assumed === true) call.warn(undone.fault.msg);
  else faults.push(undone.fault);
}

/** Moves an unreadable entry to the abandoned attachments, so that it makes only this GC fail and not every later one. */
function quarantined({ journal, abandoned }: GcRound["call"], key: JournalKey, why: string): ReturnType<typeof fault> {
  const path = abandoned.take(journal, key);
  return path.ok ? fault("JOURNAL_UNREADABLE", `${why}; the entry is moved to ${path.value}`) : path.fault;
}
