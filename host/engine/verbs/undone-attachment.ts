// An attachment after its plugins' DEL: the input of what frees the addresses that they left.

import type { Attachment } from "../../../src/cni/attachment.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import type { JournalEntry, PlannedAttachment } from "../../store/journal/entry.ts";

/** An attachment whose plugins' DEL succeeded. */
export interface UndoneAttachment {
  readonly entry: JournalEntry;
  readonly planned: PlannedAttachment;
  readonly list: NetworkList;
  /** The attachment's final result, if known. */
  readonly result: string | undefined;
  /** The attachment as its plugins' DEL named it. */
  readonly attachment: Attachment;
  /** Whether the network namespace is gone. */
  readonly isGone: () => Promise<boolean>;
}
