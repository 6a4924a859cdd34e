// GC's first part: DEL for what is journalled and no longer valid, one container after the other.

import { fault } from "../../src/fault/fault.ts";
import type { JournalKey } from "../journal/entry-file.ts";
import { undoOrLeave } from "./converge.ts";
import type { GcRound } from "./gc-plan.ts";
import { removeNest } from "./nest-directory.ts";
import { isOfAnotherBoot } from "./undo.ts";

export async function clearStale(round: GcRound): Promise<void> {
  for (const key of round.plan.stale) {
    if (!round.hasTime()) continue;
    const held = await round.context.locks.container(key);
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

async function clearOne({ context, plan, faults }: GcRound, key: JournalKey): Promise<void> {
  const loaded = context.journal.load(key);
  if (!loaded.ok) {
    faults.push(loaded.fault.kind === "JOURNAL_UNREADABLE" ? quarantined(context, key, loaded.fault.msg) : loaded.fault);
    return;
  }
  const entry = loaded.value;
  // Its DEL came meanwhile, or a new ADD.
  if (entry === undefined || !plan.isStale(key, entry)) return;
  // As libcni does (L-43): with the namespace of its ADD; plugins take one that is gone for deleted.
  const undone = await undoOrLeave(context, entry, isOfAnotherBoot(context, entry) ? "" : entry.plan.netns, {
    choose: (list) => !list.disableGC,
    tell: (cause, { ifname }) => ({
      ...cause,
      msg: `failed to delete stale attachment ${key.containerId} ${ifname}: ${cause.msg}`,
    }),
  });
  if (undone.ok) removeNest(context.configuration.runDir, key, key.network);
  // Of a container that nobody knows, only DELs that failed are on record: no reason for a GC of others to fail.
  else if (entry.plan.assumed === true) context.warn(undone.fault.msg);
  else faults.push(undone.fault);
}

/** Reported once: a file that nobody can read would otherwise fail every GC for ever. */
function quarantined({ journal, leftBehind }: GcRound["context"], key: JournalKey, why: string): ReturnType<typeof fault> {
  const path = leftBehind.take(journal, key);
  return path.ok ? fault("JOURNAL_UNREADABLE", `${why}; it is left behind as ${path.value}`) : path.fault;
}
