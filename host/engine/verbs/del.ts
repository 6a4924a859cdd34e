// DEL: undoes the attachments of the journal entry, without a cluster or a definition. Without an entry (a second DEL, or a lost
// journal), the attachments in libcni's cache are undone and the default network's DEL runs. Plugins must accept a DEL of an unknown
// container (CNI section 2).

import { selfContainedText } from "../../../src/cni/network-list.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { defaultNetworkCapabilityArgs } from "../../../src/npwg/capability-args.ts";
import { type JournalPlan, type JournalRecord, type PlannedAttachment, replay } from "../../store/journal/entry.ts";
import { type Call, journalKey } from "../call.ts";
import { countFailedDel, retryAbandoned, undoOrAbandon } from "./converge.ts";
import { missingDefaultKinds, readDefaultNetwork } from "../plan/default-network.ts";
import { undoEntry } from "./undo.ts";

/** Deletes the container's attachments. A fault means that some remain and that the runtime should repeat the DEL. */
export async function del(call: Call): Promise<Result<void>> {
  const key = journalKey(call);
  const loaded = call.journal.load(key);
  if (loaded.ok) {
    return loaded.value === undefined ? delWithoutEntry(call) : undoOrAbandon(call, loaded.value, call.request.netns);
  }
  if (loaded.fault.kind !== "JOURNAL_UNREADABLE") return loaded;
  // A DEL that can never succeed would keep the pod's sandbox for ever (RT-07).
  call.warn(
    `${loaded.fault.msg}; the attachments in the result cache and the configuration are undone, then the entry is removed`,
  );
  return delDamaged(call);
}

/** Undoes a call whose journal entry is unreadable: an ADD began, but the entry does not say which attachments it made. */
async function delDamaged(call: Call): Promise<Result<void>> {
  const key = journalKey(call);
  const known = knownWithoutJournal(call, true);
  if (!known.ok) return known;
  if (!known.value.cached) {
    const path = call.abandoned.take(call.journal, key);
    if (!path.ok) return path;
    call.warn(
      `ABANDONED: the attachments of container ${key.containerId} are unknown; its damaged journal entry is kept as ${path.value}`,
    );
  }
  return undoKnown(call, known.value, true);
}

async function delWithoutEntry(call: Call): Promise<Result<void>> {
  const key = journalKey(call);
  if (await retryAbandoned(call)) return call.journal.remove(key);
  const known = knownWithoutJournal(call, false);
  return known.ok ? undoKnown(call, known.value, false) : known;
}

/** The attachments that the result cache and the configuration know. */
interface Known {
  readonly plan: JournalPlan;
  readonly records: readonly JournalRecord[];
  /** Whether the cache has any of these attachments. */
  readonly cached: boolean;
}

/** Undoes known attachments. Only a failure writes a journal entry, so that failures are counted and the next DEL continues. */
async function undoKnown(call: Call, { plan, records }: Known, damaged: boolean): Promise<Result<void>> {
  const progress: JournalRecord[] = [...records];
  const keeper = {
    append: (record: JournalRecord) => {
      progress.push(record);
      return ok(undefined);
    },
    // A killed ADD may have left a partly written entry, and a damaged entry may exist: both are removed.
    remove: () => {
      const removed = call.journal.remove(plan);
      if (removed.ok || !damaged) return removed;
      // For example if a directory is in the entry's place.
      const aside = call.abandoned.take(call.journal, plan);
      return aside.ok ? ok(undefined) : aside;
    },
  };
  const undone = await undoEntry(call, replay(plan, records), call.request.netns, { keeper });
  if (undone.ok) {
    const { freeUnrecorded } = await import("./free-leases.ts");
    await freeUnrecorded(call);
    return undone;
  }
  if (!call.journal.canHold(plan)) {
    call.warn(
      `the default network's DEL failed: ${undone.fault.msg}. DEL succeeds nevertheless: the names are too long for a journal entry, so no ADD can have attached them`,
    );
    return ok(undefined);
  }
  if (damaged) call.abandoned.take(call.journal, plan);
  const begun = call.journal.begin(plan, progress);
  // An entry that only counts is missed by nobody: with a full disk the process counts.
  if (!begun.ok && plan.assumed !== true) return undone;
  return countFailedDel(call, replay(plan, progress), call.request.netns, undone.fault);
}

/**
 * A plan of the attachments that may exist: those in the cache for this call, and the default network. `begun`: whether an ADD ran.
 * If none ran and the configured default network does not exist, the plan leaves that network out: a DEL that failed for the same
 * reason as the ADD would keep the sandbox (RT-07).
 */
function knownWithoutJournal(call: Call, begun: boolean): Result<Known> {
  const { request, bootId } = call;
  const others = othersAttachments(call);
  if (!others.ok) return others;
  const cached = call.cache
    .attachments(request.containerId, request.ifname)
    .filter(({ list, attachment: { ifname } }) => ifname === request.ifname || !others.value(list.name, ifname));
  const runtimeArgs = runtimeCapabilityArgs(call);
  const known: KnownAttachment[] = cached.map(({ list, attachment: { ifname, args, capabilityArgs }, result, definition }) => ({
    planned: {
      network: list.name,
      ifname,
      source: list.name,
      conflist: selfContainedText(list),
      // Without a result, the cache entry is of an unfinished ADD by Multus, which stores the configuration only.
      capabilityArgs: result === undefined && ifname === request.ifname ? runtimeArgs : Object.fromEntries(capabilityArgs),
      // DEL uses the cached arguments (L-35).
      ...(args === "" ? {} : { cniArgs: args }),
      ...(definition === undefined ? {} : { definition }),
    },
    result,
  }));
  // The default network comes first in the plan, so that it is undone last (NPWG 7.2).
  const first =
    known.find(({ planned }) => planned.ifname === request.ifname) ??
    defaultNetwork(call, begun || known.length > 0, runtimeArgs);
  const all = [...(first === undefined ? [] : [first]), ...known.filter((each) => each !== first)];
  const plan: JournalPlan = {
    kind: "plexusJournalV1",
    ...journalKey(call),
    netns: request.netns,
    cniArgs: request.args,
    cniPath: request.path,
    bootId,
    ...(begun || cached.length > 0 ? {} : { assumed: true }),
    attachments: all.map(({ planned }) => planned),
  };
  const records = all.map(({ result }, index): JournalRecord =>
    result === undefined ? { attempted: index } : { attached: index, result },
  );
  return ok({ plan, records, cached: cached.length > 0 });
}

interface KnownAttachment {
  readonly planned: PlannedAttachment;
  readonly result: string | undefined;
}

/**
 * The runtime's capability arguments for the default network, as an ADD would pass them on. A pod that another delegating plugin
 * attached has no journalled ones, and without its port mappings `portmap` removes no rule (CNI section 3).
 */
function runtimeCapabilityArgs({ document, warn }: Call): Readonly<Record<string, string>> {
  const read = defaultNetworkCapabilityArgs(document);
  if (!read.ok) warn(`the default network's DEL gets no capability arguments: ${read.fault.msg}`);
  return Object.fromEntries(read.ok ? read.value : []);
}

function defaultNetwork(
  call: Call,
  begun: boolean,
  capabilityArgs: Readonly<Record<string, string>>,
): KnownAttachment | undefined {
  const { request, configuration, warn } = call;
  const list = readDefaultNetwork(call);
  if (!list.ok && !begun && missingDefaultKinds.has(list.fault.kind)) {
    warn(`nothing was attached, and the default network's DEL can't be run: ${list.fault.msg}`);
    return undefined;
  }
  const planned: PlannedAttachment = {
    network: list.ok ? list.value.name : configuration.name,
    ifname: request.ifname,
    source: "default",
    // Without an ADD, each DEL uses the current configuration: the entry must not preserve a mistake that is corrected meanwhile.
    conflist: begun && list.ok ? selfContainedText(list.value) : "",
    capabilityArgs,
  };
  return { planned, result: undefined };
}

/**
 * A test whether the journal has an attachment under another call of the same container. The cache does not distinguish calls. If
 * another call's entry is unreadable, every attachment counts as that call's, and that call's DEL undoes them from the cache.
 */
function othersAttachments(call: Call): Result<(network: string, ifname: string) => boolean> {
  const listed = call.journal.list();
  if (!listed.ok) return listed;
  const callKey = journalKey(call);
  const attached = new Set<string>();
  for (const key of listed.value) {
    if (key.containerId !== callKey.containerId || (key.network === callKey.network && key.ifname === callKey.ifname)) continue;
    const loaded = call.journal.load(key);
    if (!loaded.ok) return ok(() => true);
    for (const each of loaded.value?.plan.attachments ?? []) attached.add(attachmentText(each.network, each.ifname));
  }
  return ok((network, ifname) => attached.has(attachmentText(network, ifname)));
}

function attachmentText(network: string, ifname: string): string {
  return `${network}@${ifname}`;
}
