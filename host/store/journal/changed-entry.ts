// The entry of a completed ADD after a change of its running container: one attachment more or less. The change is a new plan with the records of the
// old one, so that every reader of journals understands it, an older release's too.

import type { AttachmentProgress, JournalEntry, JournalPlan, JournalRecord, PlannedAttachment, PodLinks } from "./entry.ts";
import { podLinks } from "./entry-file.ts";

/** A plan with its records, as the journal writes them. */
export interface EntryContent {
  readonly plan: JournalPlan;
  readonly records: readonly JournalRecord[];
}

/** The entry with a further attachment that is about to be attempted. Its index is the last one. */
export function withAttachment(entry: JournalEntry, planned: PlannedAttachment): EntryContent {
  const { plan, progress } = entry;
  const attachments = [...plan.attachments, planned];
  return contentOf(plan, attachments, [...progress, { attempted: true, undone: false }], entry.pod);
}

/** The entry without the attachment of this index, which is undone. */
export function withoutAttachment({ plan, progress, pod }: JournalEntry, index: number): EntryContent {
  const removed = plan.attachments[index]?.ifname;
  const others = (links: PodLinks["made"]): PodLinks["made"] => links?.filter(({ name }) => name !== removed);
  const left = pod && podLinks({ ...pod, made: others(pod.made), earlier: others(pod.earlier) });
  return contentOf(plan, plan.attachments.toSpliced(index, 1), progress.toSpliced(index, 1), left);
}

function contentOf(
  plan: JournalPlan,
  attachments: readonly PlannedAttachment[],
  progress: readonly AttachmentProgress[],
  pod: PodLinks | undefined,
): EntryContent {
  const records: JournalRecord[] = [...(pod === undefined ? [] : [{ pod }]), ...progress.flatMap(recordsOf)];
  return { plan: { ...plan, attachments }, records: [...records, { closed: true }, { status: "due" }] };
}

function recordsOf({ attempted, result, failedStep, passedOver = [], detaching, undone }: AttachmentProgress, index: number) {
  const records: JournalRecord[] = attempted ? [{ attempted: index }] : [];
  for (const step of passedOver) records.push({ passedOver: index, ...step });
  if (failedStep !== undefined) records.push({ addFailed: index, ...failedStep });
  if (result !== undefined) records.push({ attached: index, result });
  if (detaching === true) records.push({ detaching: index });
  if (undone) records.push({ undone: index });
  return records;
}
