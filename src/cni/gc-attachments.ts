// GC's lists of attachments (CNI 1.1.0 section 2, L-43, L-44): whose DEL is due, and what a delegated network is told.

import { type AttachmentId, attachmentKey } from "./attachment.ts";

/** Those that the runtime no longer counts as valid: libcni runs DEL for each of them, with the current list, before GC. */
export function staleAmong<T extends AttachmentId>(attachments: readonly T[], valid: readonly AttachmentId[]): readonly T[] {
  const keys = new Set(valid.map(attachmentKey));
  return attachments.filter((attachment) => !keys.has(attachmentKey(attachment)));
}

/**
 * The runtime's list in a delegated network's own terms (L-44): the runtime names the attachments that it asked for
 * ("id, eth0"), the network knows those that were made for them ("id, net1"). What was made for nothing valid is left out.
 */
export function translateValid(
  valid: readonly AttachmentId[],
  made: readonly { readonly requested: AttachmentId; readonly own: AttachmentId }[],
): readonly AttachmentId[] {
  const keys = new Set(valid.map(attachmentKey));
  return made.filter(({ requested }) => keys.has(attachmentKey(requested))).map(({ own }) => own);
}
