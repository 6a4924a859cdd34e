// ADD: journals the plan, runs the chains in order with the default network first (NPWG 6.2), and answers with the default network's
// result. After a failure, all attempted attachments are undone in reverse order (NPWG 7.2).

import { convertResult } from "../../../src/cni/convert-result.ts";
import { needingDeletion } from "../../../src/cni/needing-deletion.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { wantsDefaultRoute } from "../../../src/npwg/default-route.ts";
import { hasName, mayMakeLink } from "../../../src/pod-link/link-identity.ts";
import { type JournalEntry, type JournalPlan, type JournalRecord, replay } from "../../store/journal/entry.ts";
import type { OpenEntry } from "../../store/journal/journal.ts";
import { type Call, journalKey } from "../call.ts";
import {
  type Attached,
  type AttachmentPlan,
  type CallPlan,
  hotPlugFacts,
  originInAdd,
  plannedAttachment,
} from "../planned/attachment-plan.ts";
import { guarded, guardingOf, needsSecuring, secured } from "../planned/feature-hooks.ts";
import type { Guarding } from "../planned/plan-feature.ts";
import { attachedInterfaces } from "../record/attached-interfaces.ts";
import { firstRecords, Progress, type LinksBefore, recordEarlierLinks, recordMadeLinks } from "../record/record-add.ts";
import { attach } from "./attach.ts";
import { retryAbandoned, undoOrAbandon } from "./converge.ts";
import { publishStatus } from "./publish-status.ts";
import { undoEntry } from "./undo.ts";

/**
 * Makes all attachments of the plan and returns the default network's result. Before the first step runs, the plan is journalled and
 * `required` has settled, which says whether every step has its plugin. `before`: the links of the pod before the ADD. Fault: the failing plugin's own, with
 * the attachment named.
 * After a fault every attempted attachment is undone, or stays in the journal for DEL, and the fault's details say why.
 */
export async function add(
  call: Call,
  plan: CallPlan,
  required: Promise<Result<void>>,
  before: Promise<LinksBefore>,
): Promise<Result<PluginResult>> {
  const planned = journalPlan(call, plan);
  const begun = await begin(call, planned, required);
  if (!begun.ok) return begun;
  const progress = new Progress(begun.value);
  let result: Result<PluginResult>;
  try {
    result = await attachAll(call, plan, planned, progress, await before);
  } finally {
    await progress.end();
  }
  if (result.ok) return result;
  return failed(await undoFailedAdd(call, planned, progress.records, result.fault));
}

/** Journals the plan. Before that, the attachments of an earlier ADD must be undone and every step must have its plugin. */
async function begin(call: Call, plan: JournalPlan, required: Promise<Result<void>>): Promise<Result<OpenEntry>> {
  const earlier = call.journal.load(journalKey(call));
  const abandoned = earlier.ok && earlier.value === undefined ? call.abandoned.list(journalKey(call)) : undefined;
  if (abandoned?.ok !== true || abandoned.value.length > 0) {
    const found = await required;
    if (!found.ok) return found;
    const cleared = await clearEarlier(call, earlier);
    return cleared.ok ? call.journal.open(plan, firstRecords) : cleared;
  }
  // In the common case both run at once: the shim answers the requests of `required` while the disk writes the journal entry.
  // Yields once, so that the requests of `required` are sent before the write of the journal occupies this thread.
  await Promise.resolve();
  const [opened, found] = await Promise.allSettled([call.journal.open(plan, firstRecords), required]);
  if (opened.status === "rejected") throw opened.reason;
  if (found.status === "fulfilled" && found.value.ok) return opened.value;
  if (opened.value.ok) {
    await opened.value.value.close();
    const forgotten = await call.journal.forget(plan);
    if (!forgotten.ok) call.warn(`no plugin ran, but the journal entry could not be removed: ${forgotten.fault.msg}`);
  }
  if (found.status === "rejected") throw found.reason;
  return found.value.ok ? opened.value : found.value;
}

async function attachAll(
  call: Call,
  plan: CallPlan,
  planned: JournalPlan,
  progress: Progress,
  before: LinksBefore,
): Promise<Result<PluginResult>> {
  const attached: Attached[] = [];
  const ifnames = plan.attachments.map(({ attachment }) => attachment.ifname);
  const { pod } = plan;
  const tell = (event: PodEvent): void => pod?.cluster.tell(pod.pod, event);
  const makers = plan.attachments.filter(({ list }) => mayMakeLink(list.plugins));
  const recorded = await recordEarlierLinks(
    progress,
    before,
    makers.map(({ attachment }) => attachment.ifname),
  );
  if (!recorded.ok) return recorded;
  const guarding = await guardPod(call, plan);
  if (!guarding.ok) return guarding;
  const { inForce } = guarding.value;
  call.deadline.planSteps(plan.attachments.reduce((steps, { list }) => steps + list.plugins.length, 0));
  for (const [index, attachment] of plan.attachments.entries()) {
    // The guard's rules are written while the plugins of the runtime's own network run.
    const guard = index > 0 || isFurther(attachment) ? await inForce : ok(undefined);
    if (!guard.ok) return guard;
    const isNamed = before?.links.some((link) => hasName(link, attachment.attachment.ifname)) === true;
    const isNameTaken = isNamed && makers.includes(attachment);
    const result = await attach(call, attachment, { index, tell, isNameTaken }, progress);
    if (!result.ok) {
      // The undo must not begin before the guard's effects have ended.
      await inForce;
      return result;
    }
    attached.push(result.value);
  }
  const guard = await inForce;
  if (!guard.ok) return guard;
  const settled = await settleRoutes(call, attached, progress);
  if (!settled.ok) return settled;
  const answer = defaultResult(settled.value, call.configuration.cniVersion);
  if (!answer.ok) return answer;
  const isSecured = needsSecuring(call.features, call.configuration);
  const recordLinks = (): Promise<void> => recordMadeLinks(call, call.request.netns, progress, before, ifnames);
  if (isSecured) {
    await recordLinks();
    const safe = await securePod(call, plan, planned, progress);
    if (!safe.ok) return safe;
  }
  const [status, written] = await Promise.all([
    publishStatus(plan.pod, settled.value, call.features),
    progress.settled(),
    isSecured ? undefined : recordLinks(),
  ]);
  if (!status.ok) return status;
  if (!written.ok) return written;
  // The entry is closed before the runtime is answered, because an open entry means that the ADD broke off.
  const closed = await progress.note({ closed: true });
  return closed.ok ? answer : closed;
}

/** Whether a guard may be about the network: only a definition or a PodNetwork has a name that a policy or a Service can have. */
function isFurther({ source, podNetwork }: AttachmentPlan): boolean {
  return source.includes("/") || podNetwork !== undefined;
}

/** Before the first step: no container of the pod has run, and no interface is there. */
async function guardPod(call: Call, { attachments, pod }: CallPlan): Promise<Result<Guarding>> {
  if (pod === undefined) return ok(guardingOf(Promise.resolve(ok(undefined))));
  const { containerId, netns } = call.request;
  const interfaces = attachments.map(({ source, podNetwork, conflist, attachment: { ifname } }) => ({
    ifname,
    source,
    podNetwork,
    conflist,
  }));
  return guarded(call.features, call, { containerId, netns, cluster: pod.cluster, pod: pod.pod, interfaces });
}

/** After the last step: no container of the pod has run, and all links are there. */
async function securePod(call: Call, { pod }: CallPlan, planned: JournalPlan, progress: Progress): Promise<Result<void>> {
  if (pod === undefined) return ok(undefined);
  const { containerId, netns } = call.request;
  const interfaces = attachedInterfaces(replay(planned, progress.records), () => true);
  return secured(call.features, call, { containerId, netns, cluster: pod.cluster, pod: pod.pod, interfaces });
}

/** The default network's result, in the CNI version of the runtime's configuration. */
function defaultResult([first]: readonly Attached[], cniVersion: string): Result<PluginResult> {
  if (first === undefined) return failed(fault("INTERNAL", "an ADD was planned without a default network"));
  return convertResult(first.result, cniVersion);
}

/** Moves the pod's default routes if a selection asks for it. Journal and cache then get the changed results. */
async function settleRoutes(call: Call, attached: readonly Attached[], progress: Progress): Promise<Result<readonly Attached[]>> {
  if (!wantsDefaultRoute(attached.map(({ plan }) => ({ gateways: plan.request?.selection.defaultRoute })))) return ok(attached);
  const { settleDefaultRoutes } = await import("./settle-default-routes.ts");
  const settled = await settleDefaultRoutes(call, attached);
  if (!settled.ok) return settled;
  // The first results must be written before the changed ones replace them.
  const written = await progress.settled();
  if (!written.ok) return written;
  for (const [index, { plan, result }] of settled.value.entries()) {
    if (result === attached[index]?.result) continue;
    void progress.note({ attached: index, result: result.text });
    progress.writeLater(() => call.cache.write(plan, result));
  }
  return settled;
}

/**
 * Undoes an earlier ADD of the same attachment without a DEL, if that ADD broke off, or belongs to another boot or network namespace.
 * Otherwise the container is still attached, which is a mistake of the runtime. Fault: ALREADY_ATTACHED, or those of undoing.
 */
async function clearEarlier(call: Call, earlier: Result<JournalEntry | undefined>): Promise<Result<void>> {
  if (!earlier.ok) return earlier;
  const entry = earlier.value;
  if (entry === undefined) {
    // An abandoned attachment may still hold an address or a link that this ADD needs.
    await retryAbandoned(call);
    return ok(undefined);
  }
  const isAttached = entry.closed && entry.plan.bootId === call.bootId && entry.plan.netns === call.request.netns;
  if (!isAttached) {
    const undone = await undoOrAbandon(call, entry, entry.plan.netns === call.request.netns ? entry.plan.netns : "");
    return undone.ok ? undone : failed(needingDeletion(undone.fault));
  }
  const { containerId, ifname } = call.request;
  return failed(
    fault("ALREADY_ATTACHED", `container ${containerId} is already attached to ${call.configuration.name} as ${ifname}`),
  );
}

function journalPlan(call: Call, plan: CallPlan): JournalPlan {
  const { request, configuration, bootId } = call;
  return {
    kind: "plexusJournalV1",
    containerId: request.containerId,
    network: configuration.name,
    ifname: request.ifname,
    netns: request.netns,
    cniArgs: request.args,
    cniPath: request.path,
    bootId,
    begun: call.clock.date().toISOString(),
    attachments: plan.attachments.map((each, index) =>
      plannedAttachment(each, request.args, configuration.hotPlug ? hotPlugFacts(each, originInAdd(each, index)) : undefined),
    ),
  };
}

/** Undoes a failed ADD. Returns the cause, with the failure to undo in its details. */
async function undoFailedAdd(call: Call, plan: JournalPlan, records: readonly JournalRecord[], cause: Fault): Promise<Fault> {
  call.deadline.undo();
  const entry = replay(plan, records);
  // The runtime's DEL must know the links that are older than this ADD: without an entry it would remove what has the interface's name.
  const keepsEntry = entry.pod?.earlier !== undefined;
  const undoing = await undoEntry(call, entry, call.request.netns, { keepsEntry });
  if (undoing.ok) return cause;
  const { msg, details } = undoing.fault;
  const why = `Undoing failed too; the next DEL tries again: ${msg}${details === undefined ? "" : `\n${details}`}`;
  return needingDeletion({ ...cause, details: cause.details === undefined ? why : `${cause.details}\n${why}` });
}
