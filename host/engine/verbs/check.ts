// CHECK: every attachment of the call with its cached result (MO-11), in the order in which they were made; or the default
// network's only, where the administrator says so (D-15).

import { checkChain } from "../../src/cni/chains.ts";
import { type NetworkList, parseNetworkList } from "../../src/cni/network-list.ts";
import { versionAtLeast } from "../../src/cni/versions.ts";
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
  const wanted = configuration.check === "default" ? entry.plan.attachments.slice(0, 1) : entry.plan.attachments;
  for (const [index, planned] of wanted.entries()) {
    const list = parseNetworkList(planned.conflist, `journalled configuration of ${planned.network}`);
    if (!list.ok) return list;
    // The runtime asks for the pod: one old network among its others is no reason to call it broken (L-41).
    if (index > 0 && !speaksCheck(list.value)) {
      context.warn(
        `network ${planned.source} as ${planned.ifname} is not checked: cniVersion ${list.value.cniVersion} has no CHECK`,
      );
      continue;
    }
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

function speaksCheck({ cniVersion }: NetworkList): boolean {
  const since = versionAtLeast(cniVersion, "0.4.0");
  return since.ok && since.value;
}
