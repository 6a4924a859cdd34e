// Undoes attachments from the journal, with the same configuration byte for byte and in reverse order. A failure stops the chain (CNI
// section 3) unless it is a refusal, but not the other attachments (NPWG 7.2). The next DEL tries a failed attachment again. One whose
// ADD failed in the same way was never attached, and needs no further DEL when its namespace is gone. An attachment that only the
// configuration suggests needs no DEL of plugins that can't be started: an ADD would have been refused for the same reason.

import type { Attachment } from "../../../src/cni/attachment.ts";
import { delChain, type DelTolerance, runChain } from "../../../src/cni/chains.ts";
import { type NetworkList, parseNetworkList } from "../../../src/cni/network-list.ts";
import { stepRulesFor } from "../../../src/configuration/definition-policy.ts";
import { stepRule } from "../../../src/configuration/step-rules.ts";
import { type Fault, joinFaults, located } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isSameLink, type LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import { decide } from "../../../src/step-policy/failure-policy.ts";
import type { AttachmentProgress, JournalEntry, PlannedAttachment } from "../../store/journal/entry.ts";
import type { EntryKeeper } from "../../store/journal/entry-file.ts";
import { removeDeviceInfo } from "../../cluster/device-info/device-info-file.ts";
import { findInNamespace, removeLink } from "../../system/netlink/namespace-links.ts";
import { type Call, isOfAnotherBoot } from "../call.ts";
import { mayLeaveAddress } from "../../../src/reconcile/left-addresses.ts";
import { released } from "../planned/feature-hooks.ts";
import { readDefaultNetwork } from "../plan/default-network.ts";
import { lostSteps } from "../plan/current-network.ts";
import { type PodView, prepareUndo, viewPod, withoutLink } from "../record/prepare-undo.ts";
import { withoutReusedAddresses } from "../record/reused-addresses.ts";

/** Decides by an attachment's plan and the list in it whether the attachment is to be undone. */
export type Choose = (list: NetworkList, planned: PlannedAttachment) => boolean | Promise<boolean>;

/** The options of an undo. */
export interface UndoOptions {
  /** By default, all attachments are undone. */
  readonly choose?: Choose;
  /** Makes the fault of an attachment that was not undone. By default, the fault names network and interface. */
  readonly describe?: (cause: Fault, planned: PlannedAttachment) => Fault;
  /** The store of the entry; the journal by default. */
  readonly keeper?: EntryKeeper;
  /** True: the entry stays although all is undone. */
  readonly keepsEntry?: boolean;
}

function locatedByNetwork(cause: Fault, { source, ifname }: PlannedAttachment): Fault {
  return located(cause, source, ifname);
}

/**
 * Undoes every attachment of the entry that was attempted and is not undone yet. `netns`: the runtime's CNI_NETNS, empty if the
 * namespace is gone. The entry is removed when all attachments are undone. The fault names every attachment that failed; those that
 * `choose` declines stay without a fault.
 */
export async function undoEntry(
  call: Call,
  entry: JournalEntry,
  netns: string,
  {
    choose = () => true,
    describe = locatedByNetwork,
    keeper = call.journal.keeper(entry.plan),
    keepsEntry = false,
  }: UndoOptions = {},
): Promise<Result<void>> {
  // Appended records are not synced. After a power loss only the plan is certain, so the whole plan is undone.
  const rebooted = isOfAnotherBoot(call, entry);
  const seen = await viewPod(call, entry, rebooted ? "" : netns);
  let view = seen.ok ? seen.value : undefined;
  const faults: Fault[] = [];
  let declined = false;
  // The record of an undone attachment is written before the next one begins. For the last one, removing the entry suffices.
  let unmarked: number | undefined;
  const mark = (): void => {
    if (unmarked !== undefined) keeper.append({ undone: unmarked });
    unmarked = undefined;
  };
  for (const [index, progress] of [...entry.progress.entries()].toReversed()) {
    const planned = entry.plan.attachments[index];
    if (planned === undefined || progress.undone || !(progress.attempted || rebooted)) continue;
    const list = listOf(call, planned);
    if (list.ok && !(await choose(list.value, planned))) {
      declined = true;
      continue;
    }
    mark();
    const undone = !list.ok
      ? list
      : !seen.ok
        ? seen
        : await undoAttachment(call, { entry, planned, list: list.value, progress, netns, view });
    if (undone.ok) {
      view &&= withoutLink(view, madeLink(entry, planned));
      await call.cache.remove({ containerId: entry.plan.containerId, network: planned.network, ifname: planned.ifname });
      unmarked = index;
    } else {
      faults.push(describe(undone.fault, planned));
    }
  }
  const joined = joinFaults(faults);
  if (joined === undefined && !declined) await released(call.features, call, entry.plan.containerId);
  const removed = joined !== undefined || declined || keepsEntry ? undefined : await keeper.remove();
  if (removed?.ok === true) return removed;
  mark();
  return joined === undefined ? (removed ?? ok(undefined)) : failed(joined);
}

/**
 * Undoes the attachment with this index from a running container, with the journalled configuration. The caller notes the outcome in the journal.
 * Fault: the failing plugin's own, with the attachment named.
 */
export async function undoOne(call: Call, entry: JournalEntry, index: number): Promise<Result<void>> {
  const [planned, progress] = [entry.plan.attachments[index], entry.progress[index]];
  if (planned === undefined || progress === undefined) return ok(undefined);
  const { netns } = entry.plan;
  const list = listOf(call, planned);
  const seen = await viewPod(call, entry, netns);
  if (!seen.ok) return failed(locatedByNetwork(seen.fault, planned));
  const undone = list.ok
    ? await undoAttachment(call, {
        entry,
        planned,
        list: list.value,
        progress: withoutReusedAddresses(call, entry).progress[index] ?? progress,
        netns,
        view: seen.value && { ...seen.value, isRunning: true },
      })
    : list;
  if (!undone.ok) return failed(locatedByNetwork(undone.fault, planned));
  const left = seen.value && (await removeLeftLink(call, entry, planned, seen.value));
  if (left?.ok === false) return failed(locatedByNetwork(left.fault, planned));
  await call.cache.remove({ containerId: entry.plan.containerId, network: planned.network, ifname: planned.ifname });
  return undone;
}

function listOf(call: Call, { conflist, network }: PlannedAttachment): Result<NetworkList> {
  if (conflist === "") return readDefaultNetwork(call);
  return parseNetworkList(conflist, `journalled configuration of ${network}`);
}

/** One attachment of an entry, as its DEL finds it. */
interface AttachmentUndo {
  readonly entry: JournalEntry;
  readonly planned: PlannedAttachment;
  readonly list: NetworkList;
  readonly progress: AttachmentProgress;
  /** As the runtime names it now. */
  readonly netns: string;
  /** The pod's links; undefined if they are unknown. */
  readonly view: PodView | undefined;
}

/** Runs the plugins' DEL, and frees the addresses that it left. */
async function undoAttachment(call: Call, undo: AttachmentUndo): Promise<Result<void>> {
  const { entry, planned, list, progress, netns } = undo;
  const undone = await undoSteps(call, undo);
  if (!undone.ok || !list.plugins.some(({ type, ipamType }) => mayLeaveAddress(ipamType ?? type))) return undone;
  const { freeLeases } = await import("./free-leases.ts");
  const isGone = (): Promise<boolean> => isNamespaceGone(call, entry, netns);
  const attachment = attachmentOf(entry, planned, netns);
  return freeLeases(call, { entry, planned, list, result: progress.result, attachment, isGone });
}

async function undoSteps(call: Call, { entry, planned, list, progress, netns, view }: AttachmentUndo): Promise<Result<void>> {
  const { result, failedStep, passedOver = [] } = progress;
  const prepared =
    view === undefined ? ok({ netns, ownLinks: undefined }) : await prepareUndo(call, entry, planned, list, progress, view);
  if (!prepared.ok) return prepared;
  const { ownLinks } = prepared.value;
  const attachment = attachmentOf(entry, planned, prepared.value.netns);
  const rules = stepRulesFor(call.configuration, planned.definition);
  const goesOn: DelTolerance["goesOn"] = ({ plugin, verb, index }, failure) =>
    decide(stepRule(rules, plugin.type), { verb, index, fault: failure, tries: Infinity }) === "go-on";
  const terms = { list, path: call.request.path, inherited: call.inherited, attachment };
  const chain = delChain(terms, result, failedStep, { passedOver, goesOn, leavesOut: lostSteps(call, planned) });
  const { network, definition } = planned;
  const ended = await runChain(chain, call.runStep({ network, ifname: planned.ifname, definition, ownLinks }));
  // The device information goes even if the DEL failed: no plugin or pod needs the description of a device in removal (DI-09).
  const removed = removeDeviceInfo(entry.plan.containerId, planned.ifname);
  if (!removed.ok) call.warn(removed.fault.msg);
  if (ended.ok) return ok(undefined);
  if (entry.plan.assumed === true && ended.noneBegun === true) {
    call.warn(
      `no attachment of container ${entry.plan.containerId} is known, and DEL of network ${planned.source} can't begin (${ended.fault.msg}): ` +
        `DEL succeeds`,
    );
    return ok(undefined);
  }
  if (ended.neverAttached !== true || !(await isNamespaceGone(call, entry, netns))) return failed(ended.fault);
  const { source, ifname } = planned;
  call.warn(
    `network ${source} was never attached to container ${entry.plan.containerId} as ${ifname}: its ADD failed, and its DEL fails for the ` +
      `same reason (${ended.fault.msg}). The namespace is gone, so DEL succeeds without a record`,
  );
  return ok(undefined);
}

function madeLink({ pod }: JournalEntry, { ifname }: PlannedAttachment): LinkIdentity | undefined {
  return pod?.made?.find(({ name }) => name === ifname);
}

/** Removes the attachment's link of a running container if the plugins' DEL has left it: the pod may rename it at any time. */
async function removeLeftLink(
  { shim }: Call,
  entry: JournalEntry,
  planned: PlannedAttachment,
  { netns }: PodView,
): Promise<Result<void>> {
  const made = madeLink(entry, planned);
  const seen =
    made === undefined || netns === ""
      ? ok("gone" as const)
      : await findInNamespace(shim, netns, { indexes: [made.index], names: [] });
  if (!seen.ok) return seen;
  const left = seen.value === "gone" || made === undefined ? undefined : seen.value.links.find((link) => isSameLink(made, link));
  return left === undefined ? ok(undefined) : removeLink(shim, netns, left);
}

/** Whether the attachment's namespace is gone, and with it every link that a step made in it before failing. */
async function isNamespaceGone(call: Call, entry: JournalEntry, netns: string): Promise<boolean> {
  return isOfAnotherBoot(call, entry) || (await call.namespaceIsGone(netns));
}

/** The attachment as in its ADD, with the network namespace that the runtime names now. */
export function attachmentOf(entry: JournalEntry, planned: PlannedAttachment, netns: string): Attachment {
  return {
    containerId: entry.plan.containerId,
    ifname: planned.ifname,
    netns,
    args: planned.cniArgs ?? entry.plan.cniArgs,
    capabilityArgs: new Map(Object.entries(planned.capabilityArgs)),
  };
}
