// CHECK: every attachment of the call with its cached result (MO-11), in the order in which they were made.

import { checkChain } from "../../src/cni/chains.ts";
import { parseNetworkList } from "../../src/cni/network-list.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { journalKey, type CallContext } from "./call-context.ts";
import { located } from "./located.ts";
import { runChain } from "./run-chain.ts";
import { attachmentOf } from "./undo.ts";

export async function check(context: CallContext): Promise<Result<void>> {
  const { call, configuration } = context;
  const loaded = context.journal.load(journalKey(context));
  if (!loaded.ok) return loaded;
  const entry = loaded.value;
  if (entry === undefined || !entry.closed) {
    const why = entry === undefined ? "was never added" : "was added, but the ADD broke off";
    return failed(fault("CONTAINER_UNKNOWN", `container ${call.containerId} ${why} to ${configuration.name} as ${call.ifname}`));
  }
  for (const [index, planned] of entry.plan.attachments.entries()) {
    const list = parseNetworkList(planned.conflist, `journalled configuration of ${planned.network}`);
    if (!list.ok) return list;
    const attachment = attachmentOf(entry, planned, call.netns);
    const chain = checkChain(
      { list: list.value, path: call.path, inherited: context.inherited, attachment },
      entry.progress[index]?.result,
    );
    const ended = await runChain(chain, context.runStep(planned.network, planned.ifname));
    if (!ended.ok) {
      return failed(located(ended.fault, planned.source, planned.ifname));
    }
  }
  return ok(undefined);
}
