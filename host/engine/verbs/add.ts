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
import { replay, type JournalEntry, type JournalPlan, type JournalRecord, type PlannedAttachment } from "../journal/entry.ts";
import type { OpenEntry } from "../journal/journal.ts";
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
 * runs; `required` says whether every step has its plugin, and is waited for as long. Fault: the failing plugin's own,
 * with the attachment named; everything attempted has been undone, or is left in the journal for DEL with the reason.
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
  return failed(await undone(context, planned, progress.records, result.fault));
}

/** Writes the plan, once nothing of an earlier ADD is in the way and every step has its plugin. */
async function begin(context: CallContext, plan: JournalPlan, required: Promise<Result<void>>): Promise<Result<OpenEntry>> {
  const earlier = context.journal.load(journalKey(context));
  const leftBehind = earlier.ok && earlier.value === undefined ? context.leftBehind.list(journalKey(context)) : undefined;
  if (leftBehind?.ok !== true || leftBehind.value.length > 0) {
    const found = await required;
    if (!found.ok) return found;
    const cleared = await clearEarlier(context, earlier);
    return cleared.ok ? context.journal.open(plan, firstRecords) : cleared;
  }
  // The common case: both at once. What `required` asks of the hands goes out first, and is answered while a disk is waited for.
  await Promise.resolve();
  const [opened, found] = await Promise.allSettled([context.journal.open(plan, firstRecords), required]);
  if (opened.status === "rejected") throw opened.reason;
  if (found.status === "fulfilled" && found.value.ok) return opened.value;
  if (opened.value.ok) {
    await opened.value.value.close();
    const forgotten = await context.journal.forget(plan);
    if (!forgotten.ok) context.warn(`nothing was begun, but its journal entry stays: ${forgotten.fault.msg}`);
  }
  if (found.status === "rejected") throw found.reason;
  return found.value.ok ? opened.value : found.value;
}

/** The first attachment counts as attempted with the plan already: its plugins are asked next. */
const firstRecords: readonly JournalRecord[] = [{ attempted: 0 }];

/** What became of the plan so far: written while the next step runs, waited for before the call is answered. */
class Progress {
  readonly records: JournalRecord[] = [...firstRecords];
  readonly #entry: OpenEntry;
  readonly #underWay: Promise<Result<void>>[] = [];

  constructor(entry: OpenEntry) {
    this.#entry = entry;
  }

  /** Puts the plan on the disk; answers once it survives a power loss. */
  syncPlan(): Promise<Result<void>> {
    return this.#entry.sync();
  }

  /** Need not be waited for where the call could go on without it after a crash. */
  note(record: JournalRecord): Promise<Result<void>> {
    this.records.push(record);
    const noted = this.#entry.append(record);
    this.#begun(noted);
    return noted;
  }

  /** Does something that the call needs before it is answered only: once it has begun what takes longer. */
  later(write: () => Promise<Result<void>>): void {
    this.#begun(nextTurn().then(write));
  }

  #begun(writing: Promise<Result<void>>): void {
    // A defect is thrown where it is waited for, and not before: the daemon would end for it.
    writing.catch(() => undefined);
    this.#underWay.push(writing);
  }

  /** Answers when all is written, and the plan is on the disk; the first fault of it. */
  async settled(): Promise<Result<void>> {
    const all = await Promise.all([this.syncPlan(), ...this.#underWay]);
    return all.find(({ ok: good }) => !good) ?? ok(undefined);
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.#entry.close();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function attachAll(context: CallContext, plan: CallPlan, progress: Progress): Promise<Result<PluginResult>> {
  const attached: Attached[] = [];
  for (const [index, attachment] of plan.attachments.entries()) {
    const result = await attach(context, attachment, index, progress);
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
  // Before the runtime is answered: an entry that isn't closed says that there is no pod.
  const closed = await progress.note({ closed: true });
  return closed.ok ? answer : closed;
}

/** The default network's result, in the version that the runtime asked for. */
function defaultResult([first]: readonly Attached[], cniVersion: string): Result<PluginResult> {
  if (first === undefined) return failed(fault("INTERNAL", "an ADD was planned without a default network"));
  return convertResult(first.result, cniVersion);
}

async function attach(context: CallContext, plan: AttachmentPlan, index: number, progress: Progress): Promise<Result<Attached>> {
  // What only the plan knows of isn't begun before the plan is kept. The configuration's own default network a DEL undoes without it, so
  // that one's first step needn't wait for a disk; by its end the plan is kept, as a rule.
  if (index > 0 || plan.request !== undefined) {
    const kept = await progress.syncPlan();
    if (!kept.ok) return kept;
  } else {
    // Once its first step is on its way, which isn't kept waiting so.
    progress.later(() => progress.syncPlan());
  }
  if (index > 0) {
    const attempted = await progress.note({ attempted: index });
    if (!attempted.ok) return attempted;
  }
  const prepared = prepareDevice(context, plan);
  if (!prepared.ok) return failed(located(prepared.fault, plan.source, plan.attachment.ifname));
  const { attachment, list, previous } = plan;
  const chain = addChain({ list, path: context.call.path, inherited: context.inherited, attachment, previous });
  const ended = await runChain(chain, context.runStep(plan.list.name, attachment.ifname));
  if (!ended.ok) return failed(located(ended.fault, plan.source, attachment.ifname));
  void progress.note({ attached: index, result: ended.value.text });
  const { request } = plan;
  if (request !== undefined) {
    const verified = verifyResult(request.selection, attachment.ifname, ended.value.result, request.verification);
    if (!verified.ok) return failed(located(verified.fault, plan.source, attachment.ifname));
  }
  progress.later(() => context.cache.write(plan, ended.value));
  return ok({ plan, result: ended.value, deviceInfo: deviceOf(context, plan, ended.value.result) });
}

/** Moves the pod's default routes where a selection asks for it; the journal and the cache have the results as they are then. */
async function settleRoutes(
  context: CallContext,
  attached: readonly Attached[],
  progress: Progress,
): Promise<Result<readonly Attached[]>> {
  if (!wantsDefaultRoute(attached.map(({ plan }) => ({ gateways: plan.request?.selection.defaultRoute })))) return ok(attached);
  const { settleDefaultRoutes } = await import("./default-route.ts");
  const settled = await settleDefaultRoutes(context, attached);
  if (!settled.ok) return settled;
  // The cache's files are written anew.
  const written = await progress.settled();
  if (!written.ok) return written;
  for (const [index, { plan, result }] of settled.value.entries()) {
    if (result === attached[index]?.result) continue;
    void progress.note({ attached: index, result: result.text });
    progress.later(() => context.cache.write(plan, result));
  }
  return settled;
}

/**
 * An earlier ADD of the same attachment that never got its DEL: one that broke off, or one of another boot, is undone
 * first; one that stands is the runtime's mistake.
 */
async function clearEarlier(context: CallContext, earlier: Result<JournalEntry | undefined>): Promise<Result<void>> {
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
  return own === args || own === printCniArgs(callArgs(args)) ? {} : { cniArgs: own };
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
  context.deadline.undo();
  const undoing = await undoEntry(context, replay(plan, records), context.call.netns);
  if (undoing.ok) return cause;
  const { msg, details } = undoing.fault;
  const left = `Undoing failed too, the next DEL tries again: ${msg}${details === undefined ? "" : `\n${details}`}`;
  return { ...cause, details: cause.details === undefined ? left : `${cause.details}\n${left}` };
}
