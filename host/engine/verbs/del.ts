// DEL: undoes what the journal says. It needs no cluster and no definition. Without an entry (a second DEL, or a lost
// journal) what libcni's cache knows is undone, and the default network's own DEL runs, which has to succeed for what it
// doesn't know (CNI section 2).

import { printCniArgs } from "../../src/cni/args.ts";
import { selfContainedText } from "../../src/cni/network-list.ts";
import type { FaultKind } from "../../src/fault/catalogue.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import { type JournalPlan, type JournalRecord, type PlannedAttachment, replay } from "../journal/entry.ts";
import { journalKey, type CallContext } from "./call-context.ts";
import { failedAgain, undoOrLeave } from "./converge.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { retryLeftBehind } from "./finish-left-behind.ts";
import { undoEntry } from "./undo.ts";

export async function del(context: CallContext): Promise<Result<void>> {
  const key = journalKey(context);
  const loaded = context.journal.load(key);
  if (loaded.ok) {
    return loaded.value === undefined ? delWithoutEntry(context) : undoOrLeave(context, loaded.value, context.call.netns);
  }
  if (loaded.fault.kind !== "JOURNAL_UNREADABLE") return loaded;
  // A DEL that can never succeed would keep the pod's sandbox for ever (RT-07).
  context.warn(`${loaded.fault.msg}: what the result cache and the configuration know is undone, then the entry is removed`);
  return delDamaged(context);
}

/** The entry says that an ADD began something, but not what. */
async function delDamaged(context: CallContext): Promise<Result<void>> {
  const key = journalKey(context);
  const known = knownWithoutJournal(context, true);
  if (!known.ok) return known;
  if (!known.value.cached) {
    const path = context.leftBehind.take(context.journal, key);
    if (!path.ok) return path;
    context.warn(
      `LEFT BEHIND: what container ${key.containerId} was attached to is not known; the damaged entry is ${path.value}`,
    );
  }
  return undoKnown(context, known.value, true);
}

async function delWithoutEntry(context: CallContext): Promise<Result<void>> {
  const key = journalKey(context);
  if (await retryLeftBehind(context)) return context.journal.remove(key);
  const known = knownWithoutJournal(context, false);
  return known.ok ? undoKnown(context, known.value, false) : known;
}

/** What is attached as far as the result cache and the configuration know. */
interface Known {
  readonly plan: JournalPlan;
  readonly records: readonly JournalRecord[];
  /** Whether the cache knew anything. */
  readonly cached: boolean;
}

/** Undoes it; an entry is only written where that fails, so that the next DEL goes on from there and the tries are counted. */
async function undoKnown(context: CallContext, { plan, records }: Known, damaged: boolean): Promise<Result<void>> {
  const progress: JournalRecord[] = [...records];
  const keeper = {
    append: (record: JournalRecord) => {
      progress.push(record);
      return ok(undefined);
    },
    // No entry, but an ADD that was killed while it wrote one may have left what it had written; or a damaged one.
    remove: () => {
      const removed = context.journal.remove(plan);
      if (removed.ok || !damaged) return removed;
      // A directory in its place, say.
      const aside = context.leftBehind.take(context.journal, plan);
      return aside.ok ? ok(undefined) : aside;
    },
  };
  const undone = await undoEntry(context, replay(plan, records), context.call.netns, { keeper });
  if (undone.ok) return undone;
  if (!context.journal.canHold(plan)) {
    context.warn(`nothing was attached, because such an ADD is refused; the default network's DEL fails: ${undone.fault.msg}`);
    return ok(undefined);
  }
  if (damaged) context.leftBehind.take(context.journal, plan);
  const begun = context.journal.begin(plan, progress);
  return begun.ok ? failedAgain(context, replay(plan, progress), context.call.netns, undone.fault) : undone;
}

/** The kinds of fault that say that there is no default network, and not that it is wrong. */
const absent: ReadonlySet<FaultKind> = new Set(["NETWORK_UNKNOWN", "NETWORK_NOT_FOUND"]);

/**
 * A plan of what there may be: what the cache has of this call, and the default network where it isn't among that. `begun`: an
 * ADD did begin something. Where none did and the configuration names no default network that there is, that is left out: a DEL
 * that fails as the ADD did would keep the sandbox (RT-07).
 */
function knownWithoutJournal(context: CallContext, begun: boolean): Result<Known> {
  const { call, bootId } = context;
  const others = othersAttachments(context);
  if (!others.ok) return others;
  const cached = context.cache
    .attachments(call.containerId, call.ifname)
    .filter(({ list, attachment: { ifname } }) => ifname === call.ifname || !others.value(list.name, ifname));
  const known: KnownAttachment[] = cached.map(({ list, attachment: { ifname, args, capabilityArgs }, result }) => ({
    planned: {
      network: list.name,
      ifname,
      source: list.name,
      conflist: selfContainedText(list),
      capabilityArgs: Object.fromEntries(capabilityArgs),
      // The cache's own count (L-35).
      ...(args.length === 0 ? {} : { cniArgs: printCniArgs(args) }),
    },
    result,
  }));
  // The default network is undone last (NPWG 7.2): it comes first.
  const first = known.find(({ planned }) => planned.ifname === call.ifname) ?? defaultNetwork(context, begun || known.length > 0);
  const all = [...(first === undefined ? [] : [first]), ...known.filter((each) => each !== first)];
  const plan: JournalPlan = {
    kind: "plexusJournalV1",
    ...journalKey(context),
    netns: call.netns,
    cniArgs: call.args,
    cniPath: call.path,
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

function defaultNetwork(context: CallContext, begun: boolean): KnownAttachment | undefined {
  const { call, configuration, warn } = context;
  const list = readDefaultNetwork(context);
  if (!list.ok && !begun && absent.has(list.fault.kind)) {
    warn(`nothing was attached, and the default network's DEL can't be run: ${list.fault.msg}`);
    return undefined;
  }
  const planned: PlannedAttachment = {
    network: list.ok ? list.value.name : configuration.name,
    ifname: call.ifname,
    source: "default",
    // What is only assumed is undone as it is configured then: a mistake that is mended must not stay in the entry.
    conflist: begun && list.ok ? selfContainedText(list.value) : "",
    capabilityArgs: {},
  };
  return { planned, result: undefined };
}

/**
 * Whether an attachment belongs to another call of the container, by the journal: the cache tells containers apart, not calls.
 * While another call's entry can't be read, everything may be that call's: its own DEL undoes what the cache holds then.
 */
function othersAttachments(context: CallContext): Result<(network: string, ifname: string) => boolean> {
  const listed = context.journal.list();
  if (!listed.ok) return listed;
  const own = journalKey(context);
  const attached = new Set<string>();
  for (const key of listed.value) {
    if (key.containerId !== own.containerId || (key.network === own.network && key.ifname === own.ifname)) continue;
    const loaded = context.journal.load(key);
    if (!loaded.ok) return ok(() => true);
    for (const each of loaded.value?.plan.attachments ?? []) attached.add(attachmentText(each.network, each.ifname));
  }
  return ok((network, ifname) => attached.has(attachmentText(network, ifname)));
}

function attachmentText(network: string, ifname: string): string {
  return `${network}@${ifname}`;
}
