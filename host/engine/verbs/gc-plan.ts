// What a GC finds when it begins, as far as it decides what may be deleted: the runtime made its list of valid attachments before,
// so nothing that an ADD makes from now on is stale.

import { attachmentKey, type AttachmentId } from "../../src/cni/attachment.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import type { JournalEntry } from "../journal/entry.ts";
import type { JournalKey } from "../journal/entry-file.ts";
import type { CallContext } from "./call-context.ts";

export interface GcPlan {
  /** The runtime's list. */
  readonly valid: readonly AttachmentId[];
  readonly isValid: (id: AttachmentId) => boolean;
  /** Journalled calls of this configuration that are not valid. */
  readonly stale: readonly JournalKey[];
  /** Whether an entry is one of those, and still the one that this GC found: `undefined` stands for one that can't be read. */
  readonly isStale: (key: JournalKey, entry: JournalEntry | undefined) => boolean;
}

/** One GC under way: what it has found wrong, and what it had no time for. */
export interface GcRound {
  readonly context: CallContext;
  readonly plan: GcPlan;
  readonly faults: Fault[];
  /** Whether there is time for one thing more; counts what is left to the next GC. */
  readonly hasTime: () => boolean;
}

export function planGc(context: CallContext, valid: readonly AttachmentId[]): Result<GcPlan> {
  const listed = context.journal.list();
  if (!listed.ok) return listed;
  const validKeys = new Set(valid.map(attachmentKey));
  const isValid = (id: AttachmentId): boolean => validKeys.has(attachmentKey(id));
  const own = listed.value.filter(({ network }) => network === context.configuration.name);
  const stale = own.filter((key) => !isValid(key));
  const found = new Map(
    stale.map((key) => {
      const loaded = context.journal.load(key);
      return [attachmentKey(key), stateOf(loaded.ok ? loaded.value : undefined)];
    }),
  );
  return ok({
    valid,
    isValid,
    stale,
    isStale: (key, entry) => key.network === context.configuration.name && found.get(attachmentKey(key)) === stateOf(entry),
  });
}

/** Changes when an ADD begins, and when it ends with success. */
function stateOf(entry: JournalEntry | undefined): string {
  return entry === undefined ? "unreadable" : `${entry.plan.begun ?? ""} ${entry.closed}`;
}
