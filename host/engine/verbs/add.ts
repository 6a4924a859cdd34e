// ADD: journals the plan, runs the chains in order with the default network first (NPWG 6.2), and answers with the default network's
// result. After a failure, all attempted attachments are undone in reverse order (NPWG 7.2).

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { addChain, describePlugin } from "../../../src/cni/chains.ts";
import { convertResult } from "../../../src/cni/convert-result.ts";
import { type FailedStep, failedStepOf, type PassedOverStep } from "../../../src/cni/failed-step.ts";
import type { PluginConf } from "../../../src/cni/network-list.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { wantsDefaultRoute } from "../../../src/npwg/default-route.ts";
import { verifyResult } from "../../../src/npwg/verification.ts";
import {
  replay,
  type JournalEntry,
  type JournalPlan,
  type JournalRecord,
  type PlannedAttachment,
} from "../../store/journal/entry.ts";
import type { OpenEntry } from "../../store/journal/journal.ts";
import { deviceOf, prepareDevice } from "../plan/attachment-device.ts";
import type { Attached, AttachmentPlan, CallPlan } from "../plan/attachment-plan.ts";
import { journalKey, type CallContext } from "../call/call-context.ts";
import { firstRecords, Progress } from "./add-progress.ts";
import { undoOrAbandon } from "./converge.ts";
import { retryAbandoned } from "./finish-abandoned.ts";
import { located } from "../call/locate-fault.ts";
import { runChain, type RunStep } from "../../../src/cni/run-chain.ts";
import { undoEntry } from "./undo.ts";

/**
 * Makes all attachments of the plan and returns the default network's result. Before the first step runs, the plan is journalled and
 * `required` has settled, which says whether every step has its plugin. Fault: the failing plugin's own, with the attachment named.
 * After a fault every attempted attachment is undone, or stays in the journal for DEL, and the fault's details say why.
 */
export async function add(context: CallContext, plan: CallPlan, required: Promise<Result<void>>): Promise<Result<PluginResult>> {
  const planned = journalPlan(context, plan);
  const begun = await begin(context, planned, required);
  if (!begun.ok) return begun;
  const progress = new Progress(begun.value);
  let result: Result<PluginResult>;
  try {
    result = await attachAll(context, plan, progress);
  } finally {
    await progress.end();
  }
  if (result.ok) return result;
  return failed(await undoFailedAdd(context, planned, progress.records, result.fault));
}

/** Journals the plan. Before that, the attachments of an earlier ADD must be undone and every step must have its plugin. */
async function begin(context: CallContext, plan: JournalPlan, required: Promise<Result<void>>): Promise<Result<OpenEntry>> {
  const earlier = context.journal.load(journalKey(context));
  const abandoned = earlier.ok && earlier.value === undefined ? context.abandoned.list(journalKey(context)) : undefined;
  if (abandoned?.ok !== true || abandoned.value.length > 0) {
    const found = await required;
    if (!found.ok) return found;
    const cleared = await clearEarlier(context, earlier);
    return cleared.ok ? context.journal.open(plan, firstRecords) : cleared;
  }
  // In the common case both run at once: the shim answers the requests of `required` while the disk writes the journal entry.
  await letPendingRequestsLeave();
  const [opened, found] = await Promise.allSettled([context.journal.open(plan, firstRecords), required]);
  if (opened.status === "rejected") throw opened.reason;
  if (found.status === "fulfilled" && found.value.ok) return opened.value;
  if (opened.value.ok) {
    await opened.value.value.close();
    const forgotten = await context.journal.forget(plan);
    if (!forgotten.ok) context.warn(`no plugin ran, but the journal entry could not be removed: ${forgotten.fault.msg}`);
  }
  if (found.status === "rejected") throw found.reason;
  return found.value.ok ? opened.value : found.value;
}

/** Lets pending microtasks run, so that their requests to the shim are sent before the caller's next action. */
async function letPendingRequestsLeave(): Promise<void> {
  // Empty: the caller's `await` already yields to the other microtasks.
}

async function attachAll(context: CallContext, plan: CallPlan, progress: Progress): Promise<Result<PluginResult>> {
  const attached: Attached[] = [];
  context.deadline.planSteps(plan.attachments.reduce((steps, { list }) => steps + list.plugins.length, 0));
  for (const [index, attachment] of plan.attachments.entries()) {
    const result = await attach(context, attachment, { index, tell: plan.tell }, progress);
    if (!result.ok) return result;
    attached.push(result.value);
  }
  const settled = await settleRoutes(context, attached, progress);
  if (!settled.ok) return settled;
  const answer = defaultResult(settled.value, context.configuration.cniVersion);
  if (!answer.ok) return answer;
  const [status, written] = await Promise.all([plan.publish(settled.value), progress.settled()]);
  if (!status.ok) return status;
  if (!written.ok) return written;
  // The entry is closed before the runtime is answered, because an open entry means that the ADD broke off.
  const closed = await progress.note({ closed: true });
  return closed.ok ? answer : closed;
}

/** The default network's result, in the CNI version of the runtime's configuration. */
function defaultResult([first]: readonly Attached[], cniVersion: string): Result<PluginResult> {
  if (first === undefined) return failed(fault("INTERNAL", "an ADD was planned without a default network"));
  return convertResult(first.result, cniVersion);
}

async function attach(
  context: CallContext,
  plan: AttachmentPlan,
  { index, tell }: { readonly index: number } & Pick<CallPlan, "tell">,
  progress: Progress,
): Promise<Result<Attached>> {
  // An attachment that only the plan knows must not begin before the plan is on the disk. The configured default network can begin
  // earlier, because a DEL undoes it even without a journal entry: its first step need not wait for the disk.
  if (index > 0 || plan.request !== undefined) {
    const synced = await progress.syncPlan();
    if (!synced.ok) return synced;
  } else {
    // The sync starts after the request of the first step, so that it does not delay that step.
    progress.writeLater(() => progress.syncPlan());
  }
  if (index > 0) {
    const attempted = await progress.note({ attempted: index });
    if (!attempted.ok) return attempted;
  }
  const prepared = prepareDevice(context, plan);
  if (!prepared.ok) return failed(located(prepared.fault, plan.source, plan.attachment.ifname));
  const { attachment, list, previous } = plan;
  // The runtime needs the default network's result. The results of the others are only for the network status (NPWG 5.1.1).
  const withoutResult = index === 0 ? undefined : (plugin: PluginConf): void => context.warn(noResult(plan, plugin));
  const chain = addChain({ list, path: context.call.path, inherited: context.inherited, attachment, previous, withoutResult });
  const { ifname } = attachment;
  const onPassedOver = (step: PassedOverStep): void => {
    void progress.note({ passedOver: index, ...step });
    tell({ reason: "StepPassedOver", message: passedOverText(plan, step) });
  };
  const run = context.runStep({ network: list.name, ifname, definition: plan.binding?.definition, onPassedOver });
  const steps = watchFailure(run, context.deadline);
  const ended = await runChain(chain, steps.run);
  if (!ended.ok) {
    const failedStep = steps.failed();
    if (failedStep !== undefined) await progress.note({ addFailed: index, ...failedStep });
    return failed(located(ended.fault, plan.source, attachment.ifname));
  }
  void progress.note({ attached: index, result: ended.value.text });
  const { request } = plan;
  if (request !== undefined) {
    const verified = verifyResult(request.selection, attachment.ifname, ended.value.result, request.verification);
    if (!verified.ok) return failed(located(verified.fault, plan.source, attachment.ifname));
  }
  progress.writeLater(() => context.cache.write(plan, ended.value));
  return ok({ plan, result: ended.value, deviceInfo: deviceOf(context, plan, ended.value.result) });
}

/** Runs steps as `run` does, each in its share of the time, and remembers the step that failed and, by its error, attached nothing. */
function watchFailure(
  run: RunStep,
  deadline: Pick<CallContext["deadline"], "beginStep">,
): { readonly run: RunStep; readonly failed: () => FailedStep | undefined } {
  let failedStep: FailedStep | undefined;
  const noting = async (step: ChainStep): Promise<StepOutcome> => {
    deadline.beginStep();
    const outcome = await run(step);
    failedStep = outcome.ok ? undefined : failedStepOf(step.index, outcome.fault);
    return outcome;
  };
  const { ended } = run;
  return { run: ended === undefined ? noting : Object.assign(noting, { ended }), failed: () => failedStep };
}

function passedOverText({ source, list, attachment }: AttachmentPlan, { step, msg }: PassedOverStep): string {
  const type = list.plugins[step]?.type ?? "";
  return `${attachment.ifname} from ${source}: plugin ${type} failed and was passed over: ${msg}`;
}

function noResult({ source, attachment }: AttachmentPlan, plugin: PluginConf): string {
  const why = `plugin ${describePlugin(plugin)} exited 0 but printed no result, so the network status shows no addresses of it`;
  return `network ${source} as ${attachment.ifname}: ${why}. Report this to the plugin's author: CNI section 5 requires a result.`;
}

/** Moves the pod's default routes if a selection asks for it. Journal and cache then get the changed results. */
async function settleRoutes(
  context: CallContext,
  attached: readonly Attached[],
  progress: Progress,
): Promise<Result<readonly Attached[]>> {
  if (!wantsDefaultRoute(attached.map(({ plan }) => ({ gateways: plan.request?.selection.defaultRoute })))) return ok(attached);
  const { settleDefaultRoutes } = await import("./settle-default-routes.ts");
  const settled = await settleDefaultRoutes(context, attached);
  if (!settled.ok) return settled;
  // The first results must be written before the changed ones replace them.
  const written = await progress.settled();
  if (!written.ok) return written;
  for (const [index, { plan, result }] of settled.value.entries()) {
    if (result === attached[index]?.result) continue;
    void progress.note({ attached: index, result: result.text });
    progress.writeLater(() => context.cache.write(plan, result));
  }
  return settled;
}

/**
 * Undoes an earlier ADD of the same attachment without a DEL, if that ADD broke off, or belongs to another boot or network namespace.
 * Otherwise the container is still attached, which is a mistake of the runtime. Fault: ALREADY_ATTACHED, or those of undoing.
 */
async function clearEarlier(context: CallContext, earlier: Result<JournalEntry | undefined>): Promise<Result<void>> {
  if (!earlier.ok) return earlier;
  const entry = earlier.value;
  if (entry === undefined) {
    // An abandoned attachment may still hold an address or a link that this ADD needs.
    await retryAbandoned(context);
    return ok(undefined);
  }
  const isAttached = entry.closed && entry.plan.bootId === context.bootId && entry.plan.netns === context.call.netns;
  if (!isAttached) return undoOrAbandon(context, entry, entry.plan.netns === context.call.netns ? entry.plan.netns : "");
  const { containerId, ifname } = context.call;
  return failed(
    fault("ALREADY_ATTACHED", `container ${containerId} is already attached to ${context.configuration.name} as ${ifname}`),
  );
}

/** The attachment's CNI_ARGS for the journal, if they differ from the call's (MC-23). */
function differingArgs({ attachment }: AttachmentPlan, args: string): Pick<PlannedAttachment, "cniArgs"> {
  return attachment.args === args ? {} : { cniArgs: attachment.args };
}

function journalPlan(context: CallContext, plan: CallPlan): JournalPlan {
  const { call, configuration, bootId } = context;
  return {
    kind: "plexusJournalV1",
    containerId: call.containerId,
    network: configuration.name,
    ifname: call.ifname,
    netns: call.netns,
    cniArgs: call.args,
    cniPath: call.path,
    bootId,
    begun: context.date().toISOString(),
    attachments: plan.attachments.map((each) => ({
      network: each.list.name,
      ifname: each.attachment.ifname,
      source: each.source,
      conflist: each.conflist,
      capabilityArgs: Object.fromEntries(each.attachment.capabilityArgs),
      ...differingArgs(each, call.args),
      ...(each.binding === undefined ? {} : { definition: each.binding.definition }),
    })),
  };
}

/** Undoes a failed ADD. Returns the cause, with the failure to undo in its details. */
async function undoFailedAdd(
  context: CallContext,
  plan: JournalPlan,
  records: readonly JournalRecord[],
  cause: Fault,
): Promise<Fault> {
  context.deadline.undo();
  const undoing = await undoEntry(context, replay(plan, records), context.call.netns);
  if (undoing.ok) return cause;
  const { msg, details } = undoing.fault;
  const why = `Undoing failed too; the next DEL tries again: ${msg}${details === undefined ? "" : `\n${details}`}`;
  return { ...cause, details: cause.details === undefined ? why : `${cause.details}\n${why}` };
}
