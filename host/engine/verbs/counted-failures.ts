// The failed DELs of an entry. The journal has the count; on a full disk the process counts, so that a DEL is given up there, too (RT-07).

import type { Result } from "../../../src/fault/result.ts";
import type { JournalKey } from "../../store/journal/entry-file.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import type { Call } from "../call.ts";

/** Failures that the journal could not note, by entry. */
const unnoted = new Map<string, { count: number; readonly since: string }>();
/** The journal of a node with a full disk has some hundred entries; beyond this number the oldest count begins anew. */
const maxUnnoted = 4096;

/**
 * The failures of an entry's DELs, the present one included. `noted`: those in the journal; `written`: whether the journal could note the present one.
 */
export function countedFailures(
  { configuration: { cniDir } }: Call,
  { containerId, network, ifname }: JournalKey,
  noted: JournalEntry["failures"],
  now: Date,
  written: Result<void>,
): { readonly count: number; readonly since: string } {
  const key = JSON.stringify([cniDir, containerId, network, ifname]);
  const earlier = unnoted.get(key);
  const since = noted.since ?? earlier?.since ?? now.toISOString();
  if (!written.ok) {
    unnoted.delete(key);
    unnoted.set(key, { count: (earlier?.count ?? 0) + 1, since });
    const [oldest] = unnoted.size > maxUnnoted ? unnoted.keys() : [];
    if (oldest !== undefined) unnoted.delete(oldest);
  }
  return { count: noted.count + (earlier?.count ?? 0) + 1, since };
}
