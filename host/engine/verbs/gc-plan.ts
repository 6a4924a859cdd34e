// The plan of a GC: the stale journal entries at its beginning. The runtime made its list of valid attachments earlier, so an
// attachment of an ADD that runs later is never stale.

import { attachmentKey, type AttachmentId } from "../../../src/cni/attachment.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import type { JournalKey } from "../../store/journal/entry-file.ts";
import type { Call } from "../call.ts";
import type { CurrentNetworks } from "../plan/current-network.ts";

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
