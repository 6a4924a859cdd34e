// Results that an undo may not use any more. A reboot, or an earlier try, may have freed an address that is another pod's by now, and plugins such as
// `firewall` undo by address: they would cut that pod off.

import type { JournalEntry } from "../../store/journal/entry.ts";
import { entriesOf, withoutSharedResults } from "../../store/journal/shared-addresses.ts";
import { type Call, isOfAnotherBoot } from "../call.ts";

/**
 * The entry without the results that have an address of another entry. Other entries are read only where an address can have been freed without the entry's
 * own end, so that the usual DEL reads one entry.
 */
export function withoutReusedAddresses(call: Call, entry: JournalEntry): JournalEntry {
  return mayHaveFreedAddresses(call, entry) ? withoutSharedResults(entry, entry.plan, entriesOf(call.journal)) : entry;
}

/** Whether `time` is between the two. False without a time, and for one in the future: the clock was ahead, so that it does not tell the process. */
function isBetween(start: Date, time: string | undefined, end: Date): boolean {
  const at = Date.parse(time ?? "");
  return at >= start.getTime() && at <= end.getTime();
}

function mayHaveFreedAddresses(call: Call, entry: JournalEntry): boolean {
  const { plan, progress, failures } = entry;
  return (
    isOfAnotherBoot(call, entry) ||
    failures.count > 0 ||
    progress.some(({ undone, detaching }) => undone || detaching === true) ||
    // A process that was killed in a DEL may have left no trace of it.
    !isBetween(call.startedAt, plan.begun, call.clock.date())
  );
}
