// GC's list of valid attachments (CNI 1.1.0 section 2, L-43), and which attachments need a DEL. The list that a delegated network
// gets (L-44) is built in host/engine/verbs/gc-networks.ts.

import { type AttachmentId, attachmentKey } from "./attachment.ts";

/** The attachments that the runtime no longer lists as valid. libcni runs DEL for each, with the current list, before GC. */
export function staleAmong<T extends AttachmentId>(attachments: readonly T[], valid: readonly AttachmentId[]): readonly T[] {
  const keys = new Set(valid.map(attachmentKey));
  return attachments.filter((attachment) => !keys.has(attachmentKey(attachment)));
}
