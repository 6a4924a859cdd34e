// Undoing attachments from the journal: the same configuration byte for byte, in reverse order. Within a chain the first
// failure stops it (CNI section 3), across attachments it does not (NPWG 7.2); what failed is tried again by the next DEL.

import type { Attachment } from "../../src/cni/attachment.ts";
import { delChain } from "../../src/cni/chains.ts";
import { type NetworkList, parseNetworkList } from "../../src/cni/network-list.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { joinFaults } from "../../src/fault/join-faults.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { JournalEntry, PlannedAttachment } from "../journal/entry.ts";
import type { EntryKeeper } from "../journal/entry-file.ts";
import { removeDeviceInfo } from "../device-info/device-info-file.ts";
import type { CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { located } from "./located.ts";
import { callArgs } from "./pod-identity.ts";
import { runChain } from "./run-chain.ts";

/** Whether an attachment of the entry is to be undone, by the list that it was planned with. */
export type Choose = (list: NetworkList) => boolean;

export interface UndoInit {
  readonly choose?: Choose;
  /** The fault of an attachment that stayed, with that attachment named. */
  readonly tell?: (cause: Fault, planned: PlannedAttachment) => Fault;
  /** Where the entry is kept; the journal unless given. */
  readonly keeper?: EntryKeeper;
}

function toldByNetwork(cause: Fault, { source, ifname }: PlannedAttachment): Fault {
  return located(cause, source, ifname);
}

/**
 * Undoes every attachment of the entry that was attempted and not yet undone; `netns` is the runtime's (empty where the
 * namespace is gone). The entry is removed once nothing is left of it. The fault names every attachment that stayed. Those
 * that `choose` declines stay without a fault.
 */
export async function undoEntry(
  context: CallContext,
  entry: JournalEntry,
  netns: string,
  { choose = () => true, tell = toldByNetwork, keeper = context.journal.keeper(entry.plan) }: UndoInit = {},
): Promise<Result<void>> {
  // Appended progress isn't synced: after a power loss only the plan is sure, so all of it is undone.
  const rebooted = isOfAnotherBoot(context, entry);
  const faults: Fault[] = [];
  let declined = false;
  // Marked before the next one begins. The last one's mark would go with the entry.
  let unmarked: number | undefined;
  const mark = (): void => {
    if (unmarked !== undefined) keeper.append({ undone: unmarked });
    unmarked = undefined;
  };
  for (const [index, progress] of [...entry.progress.entries()].toReversed()) {
    const planned = entry.plan.attachments[index];
    if (planned === undefined || progress.undone || !(progress.attempted || rebooted)) continue;
    const list = listOf(context, planned);
    if (list.ok && !choose(list.value)) {
      declined = true;
      continue;
    }
    mark();
    const undone = list.ok ? await undoAttachment(context, entry, planned, list.value, progress.result, netns) : list;
    if (undone.ok) {
      await context.cache.remove({ containerId: entry.plan.containerId, network: planned.network, ifname: planned.ifname });
      unmarked = index;
    } else {
      faults.push(tell(undone.fault, planned));
    }
  }
  const joined = joinFaults(faults);
  const removed = joined !== undefined || declined ? undefined : await keeper.remove();
  if (removed?.ok === true) return removed;
  mark();
  return joined === undefined ? (removed ?? ok(undefined)) : failed(joined);
}

/** Then its namespace is gone, whatever stands under that path now. */
export function isOfAnotherBoot({ bootId }: Pick<CallContext, "bootId">, { plan }: JournalEntry): boolean {
  return plan.bootId !== bootId;
}

function listOf(context: CallContext, { conflist, network }: PlannedAttachment): Result<NetworkList> {
  if (conflist === "") return readDefaultNetwork(context);
  return parseNetworkList(conflist, `journalled configuration of ${network}`);
}

async function undoAttachment(
  context: CallContext,
  entry: JournalEntry,
  planned: PlannedAttachment,
  list: NetworkList,
  result: string | undefined,
  netns: string,
): Promise<Result<void>> {
  const attachment = attachmentOf(entry, planned, netns);
  const chain = delChain({ list, path: context.call.path, inherited: context.inherited, attachment }, result);
  const ended = await runChain(chain, context.runStep(planned.network, planned.ifname));
  // Whether or not all of it is undone: what describes a device that is on its way out serves nobody (DI-09).
  const forgotten = removeDeviceInfo(entry.plan.containerId, planned.ifname);
  if (!forgotten.ok) context.warn(forgotten.fault.msg);
  return ended.ok ? ok(undefined) : failed(ended.fault);
}

/** The attachment as it was when it was added, in the namespace that the runtime names now. */
export function attachmentOf(entry: JournalEntry, planned: PlannedAttachment, netns: string): Attachment {
  return {
    containerId: entry.plan.containerId,
    ifname: planned.ifname,
    netns,
    args: callArgs(planned.cniArgs ?? entry.plan.cniArgs),
    capabilityArgs: new Map(Object.entries(planned.capabilityArgs)),
  };
}
