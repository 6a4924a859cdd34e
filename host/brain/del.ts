// DEL: undoes what the journal says. It needs no cluster and no definition. Without an entry (a second DEL, or a lost
// journal) what libcni's cache knows is undone, and the default network's own DEL runs, which has to succeed for what it
// doesn't know (CNI section 2).

import { delChain } from "../../src/cni/chains.ts";
import { failed, type Result } from "../../src/fault/result.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { journalKey, type CallContext } from "./call-context.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { callArgs } from "./pod-identity.ts";
import { runChain } from "./run-chain.ts";
import { undoEntry } from "./undo.ts";

export async function del(context: CallContext): Promise<Result<void>> {
  const loaded = context.journal.load(journalKey(context));
  if (!loaded.ok) return loaded;
  if (loaded.value !== undefined) return undoEntry(context, loaded.value, context.call.netns);
  return delWithoutJournal(context);
}

async function delWithoutJournal(context: CallContext): Promise<Result<void>> {
  const { call } = context;
  const faults: Fault[] = [];
  const cached = context.cache.attachments(call.containerId);
  for (const each of cached.toReversed()) {
    const chain = delChain(
      { list: each.list, path: call.path, inherited: context.inherited, attachment: { ...each.attachment, netns: call.netns } },
      each.result,
    );
    const ended = await runChain(chain, context.runStep(each.list.name, each.attachment.ifname));
    if (ended.ok) context.cache.remove({ ...each.attachment, network: each.list.name });
    else faults.push(ended.fault);
  }
  const list = readDefaultNetwork(context.document, context.configuration);
  if (!list.ok) return list;
  const known = cached.some((each) => each.list.name === list.value.name && each.attachment.ifname === call.ifname);
  if (!known) {
    const attachment = {
      containerId: call.containerId,
      ifname: call.ifname,
      netns: call.netns,
      args: callArgs(call.args),
      capabilityArgs: new Map<string, string>(),
    };
    const chain = delChain({ list: list.value, path: call.path, inherited: context.inherited, attachment }, undefined);
    const ended = await runChain(chain, context.runStep(list.value.name, call.ifname));
    if (!ended.ok) faults.push(ended.fault);
  }
  const [first] = faults;
  // No entry, but an ADD that was killed while it wrote one may have left what it had written.
  return first === undefined ? context.journal.remove(journalKey(context)) : failed(first);
}
