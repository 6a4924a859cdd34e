// ADD: plans every attachment, journals the plan, runs the chains in order, default network first (NPWG 6.2), and answers
// with the default network's result. Any failure undoes what was attempted, in reverse (NPWG 7.2).

import { printCniArgs } from "../../src/cni/args.ts";
import { addChain } from "../../src/cni/chains.ts";
import { convertResult } from "../../src/cni/convert-result.ts";
import type { PluginResult } from "../../src/cni/result.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { wantsDefaultRoute } from "../../src/npwg/default-route.ts";
import { verifyResult } from "../../src/npwg/verification.ts";
import { replay, type JournalPlan, type JournalRecord, type PlannedAttachment } from "../journal/entry.ts";
import { deviceOf, prepareDevice } from "./attachment-device.ts";
import type { Attached, AttachmentPlan, CallPlan } from "./attachment-plan.ts";
import { journalKey, type CallContext } from "./call-context.ts";
import { undoOrLeave } from "./converge.ts";
import { retryLeftBehind } from "./finish-left-behind.ts";
import { located } from "./located.ts";
import { callArgs } from "./pod-identity.ts";
import { runChain } from "./run-chain.ts";
import { undoEntry } from "./undo.ts";

/**
 * Attaches what the plan says; answers the default network's result. The journal holds the plan before the first step
 * runs. Fault: the failing plugin's own,
 * with the attachment named; everything attempted has been undone, or is left in the journal for DEL with the reason.
 */
export async function add(context: CallContext, plan: CallPlan): Promise<Result<PluginResult>> {
  const cleared = await clearEarlier(context);
  if (!cleared.ok) return cleared;
  const planned = journalPlan(context, plan);
  const begun = context.journal.begin(planned);
  if (!begun.ok) return begun;

  const records: JournalRecord[] = [];
  const attached: Attached[] = [];
  for (const [index, attachment] of plan.attachments.entries()) {
    const result = await attach(context, attachment, index, records);
    if (!result.ok) return failed(await undone(context, planned, records, result.fault));
    attached.push(result.value);
  }
  const settled = await settleRoutes(context, attached, records);
  if (!settled.ok) return failed(await undone(context, planned, records, settled.fault));
  const answer = defaultResult(settled.value, context.configuration.cniVersion);
  if (!answer.ok) return failed(await undone(context, planned, records, answer.fault));
  const status = await plan.publish(settled.value);
  if (!status.ok) return failed(await undone(context, planned, records, status.fault));
  const closed = context.journal.append(journalKey(context), { closed: true });
  return closed.ok ? answer : failed(await undone(context, planned, records, closed.fault));
}

/** The default network's result, in the version that the runtime asked for. */
function defaultResult([first]: readonly Attached[], cniVersion: string): Result<PluginResult> {
  if (first === undefined) return failed(fault("INTERNAL", "an ADD was planned without a default network"));
  return convertResult(first.result, cniVersion);
}

async function attach(
  context: CallContext,
  plan: AttachmentPlan,
  index: number,
  records: JournalRecord[],
): Promise<Result<Attached>> {
  const attempted = note(context, records, { attempted: index });
  if (!attempted.ok) return attempted;
  const prepared = prepareDevice(context, plan);
  if (!prepared.ok) return failed(located(prepared.fault, plan.source, plan.attachment.ifname));
  const { attachment, list, previous } = plan;
  const chain = addChain({ list, path: context.call.path, inherited: context.inherited, attachment, previous });
  const ended = await runChain(chain, context.runStep(plan.list.name, attachment.ifname));
  if (!ended.ok) return failed(located(ended.fault, plan.source, attachment.ifname));
  const noted = note(context, records, { attached: index, result: ended.value.text });
  if (!noted.ok) return noted;
  const { request } = plan;
  if (request !== undefined) {
    const verified = verifyResult(request.selection, attachment.ifname, ended.value.result, request.verification);
    if (!verified.ok) return failed(located(verified.fault, plan.source, attachment.ifname));
  }
  const cached = context.cache.write(plan, ended.value);
  if (!cached.ok) return cached;
  return ok({ plan, result: ended.value, deviceInfo: deviceOf(context, plan, ended.value.result) });
}

/** Moves the pod's default routes where a selection asks for it; the journal and the cache have the results as they are then. */
async function settleRoutes(
  context: CallContext,
  attached: readonly Attached[],
  records: JournalRecord[],
): Promise<Result<readonly Attached[]>> {
  if (!wantsDefaultRoute(attached.map(({ plan }) => ({ gateways: plan.request?.selection.defaultRoute })))) return ok(attached);
  const { settleDefaultRoutes } = await import("./default-route.ts");
  const settled = await settleDefaultRoutes(context, attached);
  if (!settled.ok) return settled;
  for (const [index, { plan, result }] of settled.value.entries()) {
    if (result === attached[index]?.result) continue;
    const noted = note(context, records, { attached: index, result: result.text });
    if (!noted.ok) return noted;
    const cached = context.cache.write(plan, result);
    if (!cached.ok) return cached;
  }
  return settled;
}

function note(context: CallContext, records: JournalRecord[], record: JournalRecord): Result<void> {
  records.push(record);
  return context.journal.append(journalKey(context), record);
}

/**
 * An earlier ADD of the same attachment that never got its DEL: one that broke off, or one of another boot, is undone
 * first; one that stands is the runtime's mistake.
 */
async function clearEarlier(context: CallContext): Promise<Result<void>> {
  const earlier = context.journal.load(journalKey(context));
  if (!earlier.ok) return earlier;
  const entry = earlier.value;
  if (entry === undefined) {
    // An address of then, for one, may be in the way of this one.
    await retryLeftBehind(context);
    return ok(undefined);
  }
  const stands = entry.closed && entry.plan.bootId === context.bootId && entry.plan.netns === context.call.netns;
  if (!stands) return undoOrLeave(context, entry, entry.plan.netns === context.call.netns ? entry.plan.netns : "");
  const { containerId, ifname } = context.call;
  return failed(
    fault("ALREADY_ATTACHED", `container ${containerId} is already attached to ${context.configuration.name} as ${ifname}`),
  );
}

/** An attachment's CNI_ARGS, where they aren't the call's (MC-23). */
function ownArgs({ attachment }: AttachmentPlan, args: string): Pick<PlannedAttachment, "cniArgs"> {
  const own = printCniArgs(attachment.args);
  return own === printCniArgs(callArgs(args)) ? {} : { cniArgs: own };
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
      ...ownArgs(each, call.args),
    })),
  };
}

async function undone(context: CallContext, plan: JournalPlan, records: readonly JournalRecord[], cause: Fault): Promise<Fault> {
  const undoing = await undoEntry(context, replay(plan, records), context.call.netns);
  if (undoing.ok) return cause;
  const { msg, details } = undoing.fault;
  const left = `Undoing failed too, the next DEL tries again: ${msg}${details === undefined ? "" : `\n${details}`}`;
  return { ...cause, details: cause.details === undefined ? left : `${cause.details}\n${left}` };
}
