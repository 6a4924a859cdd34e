// DEL: undoes what the journal says. It needs no cluster and no definition. Without an entry (a second DEL, or a lost
// journal) what libcni's cache knows is undone, and the default network's own DEL runs, which has to succeed for what it
// doesn't know (CNI section 2).

import { delChain } from "../../src/cni/chains.ts";
import type { FaultKind } from "../../src/fault/catalogue.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { joinFaults } from "../../src/fault/join-faults.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { journalKey, type CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { located } from "./located.ts";
import { callArgs } from "./pod-identity.ts";
import { runChain } from "./run-chain.ts";
import { undoEntry } from "./undo.ts";

export async function del(context: CallContext): Promise<Result<void>> {
  const loaded = context.journal.load(journalKey(context));
  if (loaded.ok) {
    return loaded.value === undefined ? delWithoutJournal(context, false) : undoEntry(context, loaded.value, context.call.netns);
  }
  if (loaded.fault.kind !== "JOURNAL_UNREADABLE") return loaded;
  // A DEL that can never succeed would keep the pod's sandbox for ever (RT-07).
  context.warn(`${loaded.fault.msg}: what the result cache and the configuration know is undone, then the entry is removed`);
  return delWithoutJournal(context, true);
}

/** `begun`: an ADD did begin something, whatever its entry held. */
async function delWithoutJournal(context: CallContext, begun: boolean): Promise<Result<void>> {
  const { call } = context;
  const faults: Fault[] = [];
  const others = othersAttachments(context);
  if (!others.ok) return others;
  const cached = context.cache
    .attachments(call.containerId)
    .filter(({ list, attachment: { ifname } }) => ifname === call.ifname || !others.value(list.name, ifname));
  for (const each of cached.toReversed()) {
    const chain = delChain(
      { list: each.list, path: call.path, inherited: context.inherited, attachment: { ...each.attachment, netns: call.netns } },
      each.result,
    );
    const ended = await runChain(chain, context.runStep(each.list.name, each.attachment.ifname));
    if (ended.ok) context.cache.remove({ ...each.attachment, network: each.list.name });
    else faults.push(located(ended.fault, each.list.name, each.attachment.ifname));
  }
  const known = cached.some(({ attachment }) => attachment.ifname === call.ifname);
  const rest = known ? ok(undefined) : await delDefault(context, begun || cached.length > 0);
  if (!rest.ok) faults.push(rest.fault);
  const joined = joinFaults(faults);
  // No entry, but an ADD that was killed while it wrote one may have left what it had written.
  return joined === undefined ? context.journal.remove(journalKey(context)) : failed(joined);
}

/** The kinds of fault that say that there is no default network, and not that it is wrong. */
const absent: ReadonlySet<FaultKind> = new Set(["NETWORK_UNKNOWN", "NETWORK_NOT_FOUND"]);

/**
 * DEL of the default network, of which nothing is known. Where no ADD began anything (`begun` false) and the configuration
 * names no default network that there is, nothing is done: a DEL that fails as the ADD did would keep the sandbox (RT-07).
 */
async function delDefault(context: CallContext, begun: boolean): Promise<Result<void>> {
  const { call } = context;
  const list = readDefaultNetwork(context.document, context.configuration);
  if (!list.ok && (begun || !absent.has(list.fault.kind))) return list;
  if (!list.ok) {
    context.warn(`nothing was attached, and the default network's DEL can't be run: ${list.fault.msg}`);
    return ok(undefined);
  }
  const attachment = {
    containerId: call.containerId,
    ifname: call.ifname,
    netns: call.netns,
    args: callArgs(call.args),
    capabilityArgs: new Map<string, string>(),
  };
  const chain = delChain({ list: list.value, path: call.path, inherited: context.inherited, attachment }, undefined);
  const ended = await runChain(chain, context.runStep(list.value.name, call.ifname));
  return ended.ok ? ok(undefined) : failed(located(ended.fault, "default", call.ifname));
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
