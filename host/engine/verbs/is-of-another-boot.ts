// Whether an entry outlived its boot.

import type { JournalEntry } from "../../store/journal/entry.ts";
import type { Call } from "../call.ts";

/** Whether the entry is of another boot. Its network namespace is gone then, even if its path exists again. */
export function isOfAnotherBoot({ bootId }: Call, { plan }: JournalEntry): boolean {
  return plan.bootId !== bootId;
}
