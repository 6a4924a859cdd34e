// Attaches one network to a running container, or detaches one. The journal knows a change before its first step, so that a crash at any point
// leaves an attachment that the next change or the runtime's DEL undoes.

import { mayMakeLink } from "../../../src/pod-link/link-makers.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { type EntryContent, withAttachment, withoutAttachment } from "../../store/journal/changed-entry.ts";
import { type JournalEntry, replay } from "../../store/journal/entry.ts";
import type { CallContext } from "../call/call-context.ts";
import type { Attached, AttachmentPlan } from "../plan/attachment-plan.ts";
import { Progress } from "../record/add-progress.ts";
import { attach } from "../verbs/attach.ts";
import { type AttachmentOrigin, hotPlugFacts, plannedAttachment } from "../plan/planned-attachment.ts";
import { undoOne } from "../verbs/undo.ts";
import { recordEarlierLinks, recordMadeLinks } from "../record/record-links.ts";
import type { RunningContainer } from "./running-container.ts";

/**
 * Attaches a planned network. The caller holds the container's lock. A failed attachment is undone; if that fails too, it stays in the journal.
 * Fault: the failing plugin's own, with the attachment named.
 */
export async function attachToContainer(
  context: CallContext,
  { entry, before }: RunningContainer,
  plan: AttachmentPlan,
  origin: AttachmentOrigin,
  tell: (event: PodEvent) => void,
): Promise<Result<Attached>> {
  const content = withAttachment(entry, plannedAttachment(plan, entry.plan.cniArgs, hotPlugFacts(plan, origin)));
  const index = content.plan.attachments.length - 1;
  const opened = await context.journal.change(content.plan, content.records);
  if (!opened.ok) return opened;
  const progress = new Progress(opened.value, content.records);
  const { ifname, netns } = plan.attachment;
  const isMaker = mayMakeLink(plan.list.plugins);
  const isNameTaken = isMaker && before.links.some(({ name }) => name === ifname);
  let attached: Result<Attached>;
  try {
    const recorded = await recordEarlierLinks(progress, before, isMaker ? [ifname] : [], entry.pod);
    attached = recorded.ok ? await attach(context, plan, { index, tell, isNameTaken }, progress) : recorded;
    if (attached.ok) await recordMadeLinks(context, netns, progress, before, [ifname], entry.pod);
    const written = attached.ok ? await progress.settled() : ok(undefined);
    if (!written.ok) attached = written;
  } finally {
    await progress.end();
  }
  if (attached.ok) return attached;
  context.deadline.undo();
  const undone = await remove(context, replay(content.plan, progress.records), index);
  return failed(undone.ok ? attached.fault : withUndoFault(attached.fault, undone.fault));
}

/**
 * Detaches the attachment with this index. The caller holds the container's lock. Fault: the failing plugin's own, with
 * the attachment named; it then stays in the journal.
 */
export async function detachFromContainer(context: CallContext, entry: JournalEntry, index: number): Promise<Result<void>> {
  for (const record of [{ status: "due" }, { detaching: index }] as const) {
    const noted = context.journal.append(entry.plan, record);
    if (!noted.ok) return noted;
  }
  return remove(context, entry, index);
}

async function remove(context: CallContext, entry: JournalEntry, index: number): Promise<Result<void>> {
  const undone = await undoOne(context, entry, index);
  if (!undone.ok) return undone;
  const { plan, records }: EntryContent = withoutAttachment(entry, index);
  const written = await context.journal.change(plan, records);
  if (!written.ok) return written;
  await written.value.close();
  return ok(undefined);
}

function withUndoFault(cause: Fault, { msg }: Fault): Fault {
  const why = `Undoing failed too, and is tried again: ${msg}`;
  return { ...cause, details: cause.details === undefined ? why : `${cause.details}\n${why}` };
}
