// The first part of GC: DEL for each stale journal entry, one container after the other.

import { fault } from "../../../src/fault/fault.ts";
import type { JournalKey } from "../../store/journal/entry-file.ts";
import { undoOrAbandon } from "./converge.ts";
import type { GcRound } from "./gc-plan.ts";
import { isOfAnotherBoot } from "./undo.ts";

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
