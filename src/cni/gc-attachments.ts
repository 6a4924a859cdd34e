// GC's list of attachments (CNI 1.1.0 section 2, L-43): whose DEL is due. What a delegated network is told (L-44) is
// host/brain/gc-networks.ts'.

import { type AttachmentId, attachmentKey } from "./attachment.ts";

/** Those that the runtime no longer counts as valid: libcni runs DEL for each of them, with the current list, before GC. */
export function staleAmong<T extends AttachmentId>(attachments: readonly T[], valid: readonly AttachmentId[]): readonly T[] {
  const keys = new Set(valid.map(attachmentKey));
  return attachments.filter((attachment) => !keys.has(attachmentKey(attachment)));
}
