// Counts the pods on this node that have networks of Plexus, and the records of pods that are gone.

import { existsSync } from "node:fs";
import { bootId } from "../../engine/call/boot-id.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import { Abandoned } from "../../store/journal/abandoned.ts";
import { Journal } from "../../store/journal/journal.ts";

/** The pods and records of one state directory. */
export interface AttachedPods {
  /** Containers whose network namespace is there. */
  readonly pods: number;
  /** Entries and abandoned attachments of containers whose namespace is gone. */
  readonly records: number;
  /** The reason why the state cannot be read. The attached pods are then unknown. */
  readonly problem: string | undefined;
}

/** Reads a state directory. */
export function readAttachedPods(stateDirectory: string): AttachedPods {
  const journal = new Journal(stateDirectory);
  const keys = journal.list();
  const abandoned = new Abandoned(stateDirectory).list();
  const problems = [keys, abandoned].flatMap((read) => (read.ok ? [] : [read.fault.msg]));
  const pods = new Set<string>();
  let records = abandoned.ok ? abandoned.value.length : 0;
  for (const key of keys.ok ? keys.value : []) {
    const loaded = journal.load(key);
    if (!loaded.ok) problems.push(loaded.fault.msg);
    else if (loaded.value !== undefined && isAttached(loaded.value)) {
      if (isThere(loaded.value)) pods.add(key.containerId);
      else records += 1;
    }
  }
  return { pods: pods.size, records, problem: problems[0] };
}

/** An assumed entry only counts failed DELs: no attachment is known. */
function isAttached({ plan, progress }: JournalEntry): boolean {
  return plan.assumed !== true && progress.some(({ attempted, undone }) => attempted && !undone);
}

/**
 * A network namespace does not survive a reboot. A path may meanwhile belong to another process; it counts as this pod's, because keeping
 * files is the safe mistake.
 */
function isThere({ plan }: JournalEntry): boolean {
  return plan.bootId === bootId() && plan.netns !== "" && existsSync(plan.netns);
}
