// Attaches one network to a running container, or detaches one. The journal knows a change before its first step, so that a crash at any point
// leaves an attachment that the next change or the runtime's DEL undoes.

import type { Cluster, Pod } from "../../../host/cluster/cluster.ts";
import type { Call } from "../../../host/engine/call.ts";
import {
  type Attached,
  type AttachmentPlan,
  hotPlugFacts,
  plannedAttachment,
} from "../../../host/engine/planned/attachment-plan.ts";
import { guarded, guardsPods, secured } from "../../../host/engine/planned/feature-hooks.ts";
import { attachedInterfaces } from "../../../host/engine/record/attached-interfaces.ts";
import { Progress, recordAddedLink, recordEarlierLinks, recordLeftLink } from "../../../host/engine/record/record-add.ts";
import { attach } from "../../../host/engine/verbs/attach.ts";
import { undoOne } from "../../../host/engine/verbs/undo.ts";
import { type EntryContent, withAttachment, withoutAttachment } from "../../../host/store/journal/changed-entry.ts";
import { type AttachmentOrigin, type JournalEntry, replay } from "../../../host/store/journal/entry.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { hasName, mayMakeLink } from "../../../src/pod-link/link-identity.ts";
import type { RunningContainer } from "./running-container.ts";

/** The container's pod, if the runtime named one, and the receiver of its Events. */
export interface PodOfChange {
  readonly cluster: Cluster;
  readonly pod: Pod | undefined;
  readonly tell: (event: PodEvent) => void;
}

/**
 * Attaches a planned network. The caller holds the container's lock. A failed attachment is undone; if that fails too, it stays in the journal.
 * Fault: the failing plugin's own, with the attachment named.
 */
export async function attachToContainer(
  call: Call,
  { entry, before, unlisted }: RunningContainer,
  plan: AttachmentPlan,
  origin: AttachmentOrigin,
  { cluster, pod, tell }: PodOfChange,
): Promise<Result<Attached>> {
  // Without the links before, those of the ADD cannot be told apart.
  if (unlisted !== undefined) return failed(fault("HOT_PLUG_UNAVAILABLE", `network ${plan.source}: ${unlisted.msg}`));
  if (pod !== undefined) {
    const { containerId } = call.request;
    const interfaces = [
      ...entry.plan.attachments,
      { ifname: plan.attachment.ifname, source: plan.source, podNetwork: plan.podNetwork, conflist: plan.conflist },
    ];
    const guarding = await guarded(call.features, call, { containerId, netns: entry.plan.netns, cluster, pod, interfaces });
    const allowed = guarding.ok ? await guarding.value.inForce : guarding;
    if (!allowed.ok) return allowed;
  }
  const content = withAttachment(entry, plannedAttachment(plan, entry.plan.cniArgs, hotPlugFacts(plan, origin)));
  const index = content.plan.attachments.length - 1;
  const opened = await call.journal.change(content.plan, content.records);
  if (!opened.ok) return opened;
  const progress = new Progress(opened.value, content.records);
  const { ifname, netns } = plan.attachment;
  const isMaker = mayMakeLink(plan.list.plugins);
  const isNameTaken = isMaker && before.links.some((link) => hasName(link, ifname));
  let attached: Result<Attached>;
  try {
    const recorded = await recordEarlierLinks(progress, before, isMaker ? [ifname] : [], entry.pod);
    attached = recorded.ok ? await attach(call, plan, { index, tell, isNameTaken }, progress) : recorded;
    if (attached.ok) {
      const { result } = attached.value.result;
      await recordAddedLink(call, netns, progress, { ifname, result, before, known: entry.pod });
    }
    if (attached.ok && pod !== undefined) {
      const { containerId } = call.request;
      const interfaces = attachedInterfaces(replay(content.plan, progress.records), (each) => each === ifname);
      const safe = await secured(call.features, call, { containerId, netns, cluster, pod, interfaces });
      if (!safe.ok) attached = safe;
    }
    const written = attached.ok ? await progress.settled() : ok(undefined);
    if (!written.ok) attached = written;
    if (!attached.ok && isMaker) await recordLeftLink(call, netns, progress, { ifname, before, known: entry.pod });
  } finally {
    await progress.end();
  }
  if (attached.ok) return attached;
  call.deadline.undo();
  const undone = await remove(call, replay(content.plan, progress.records), index);
  return failed(undone.ok ? attached.fault : withUndoFault(attached.fault, undone.fault));
}

/**
 * Detaches the attachment with this index. The caller holds the container's lock. Fault: the failing plugin's own, with
 * the attachment named; it then stays in the journal.
 */
export async function detachFromContainer(call: Call, entry: JournalEntry, index: number): Promise<Result<void>> {
  for (const record of [{ status: "due" }, { detaching: index }] as const) {
    const noted = call.journal.append(entry.plan, record);
    if (!noted.ok) return noted;
  }
  const removed = await remove(call, entry, index);
  if (removed.ok) await guardRest(call, entry, index);
  return removed;
}

/**
 * Lets features leave the network of the attachment that is gone: its policies and Services. A failure is a warning, because the interface is gone, and the
 * daemon brings running pods up to date from time to time.
 */
async function guardRest(call: Call, entry: JournalEntry, index: number): Promise<void> {
  const { plan } = entry;
  const identity = podIdentity(plan.cniArgs);
  if (!identity.ok || identity.value === undefined || !guardsPods(call.features, call.configuration)) return;
  const { namespace, name, uid } = identity.value;
  const cluster = await call.cluster();
  const pod = await cluster?.pod(namespace, name, { uid });
  if (cluster === undefined || pod?.ok !== true) return;
  const interfaces = attachedInterfaces(entry).toSpliced(index, 1);
  const { containerId, netns } = plan;
  const rest = { containerId, netns, cluster, pod: pod.value, interfaces };
  // The pod may refuse changes in its own namespace: those on the node don't wait for them.
  for (const act of [guarded, secured]) {
    const done = await act(call.features, call, rest);
    if (!done.ok) call.warn(`pod ${namespace}/${name}: ${done.fault.msg}`);
  }
}

async function remove(call: Call, entry: JournalEntry, index: number): Promise<Result<void>> {
  const undone = await undoOne(call, entry, index);
  if (!undone.ok) return undone;
  const { plan, records }: EntryContent = withoutAttachment(entry, index);
  const written = await call.journal.change(plan, records);
  if (!written.ok) return written;
  await written.value.close();
  return ok(undefined);
}

function withUndoFault(cause: Fault, { msg }: Fault): Fault {
  const why = `Undoing failed too, and is tried again: ${msg}`;
  return { ...cause, details: cause.details === undefined ? why : `${cause.details}\n${why}` };
}
