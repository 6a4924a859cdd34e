// CHECK: runs the CHECK chains of the call's attachments in the order of the ADD, each with its result (MO-11). With the setting
// `check: default`, only the default network is checked (D-15).

import { checkChain, runChain } from "../../../src/cni/chains.ts";
import { needingDeletion } from "../../../src/cni/needing-deletion.ts";
import { type NetworkList, parseNetworkList } from "../../../src/cni/network-list.ts";
import { versionAtLeast } from "../../../src/cni/versions.ts";
import { fault, located } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PlannedAttachment } from "../../store/journal/entry.ts";
import { journalKey, type Call } from "../call.ts";
import { CurrentNetworks, lostSteps } from "../plan/current-network.ts";
import { attachmentOf } from "./undo.ts";

/** Checks the container's attachments. Faults: CONTAINER_UNKNOWN, ADD_UNFINISHED, and the failing plugin's own with the attachment named. */
export async function check(call: Call): Promise<Result<void>> {
  const { request, configuration } = call;
  // As in libcni, `disableCheck` counts as it is configured now: an administrator sets it because a CHECK of running pods misleads.
  if (configuration.disableCheck) return ok(undefined);
  const networks = new CurrentNetworks(call);
  const loaded = call.journal.load(journalKey(call));
  if (!loaded.ok) return loaded;
  const entry = loaded.value;
  const subject = `container ${request.containerId} is not attached to ${configuration.name} as ${request.ifname}`;
  if (entry === undefined) return failed(fault("CONTAINER_UNKNOWN", `${subject}: it was never added`));
  // Code 3 would tell the runtime that no DEL is needed (CNI 1.1.0, Error).
  if (!entry.closed) return failed(fault("ADD_UNFINISHED", `${subject}: its ADD broke off`));
  const checked = configuration.check === "default" ? entry.plan.attachments.slice(0, 1) : entry.plan.attachments;
  for (const [index, planned] of checked.entries()) {
    const list = parseNetworkList(planned.conflist, `journalled configuration of ${planned.network}`);
    if (!list.ok) return list;
    // CHECK is about the whole pod. A further network of an old CNI version without CHECK does not make the pod broken (L-41).
    if (index > 0 && !supportsCheck(list.value)) {
      call.warn(
        `network ${planned.source} as ${planned.ifname} is not checked: cniVersion ${list.value.cniVersion} has no CHECK`,
      );
      continue;
    }
    const { result, passedOver = [], detaching } = entry.progress[index] ?? {};
    // A change of the running pod broke off. The daemon finishes it; the pod's other networks are whole.
    if (planned.hotPlug !== undefined && (result === undefined || detaching === true)) {
      call.warn(`network ${planned.source} as ${planned.ifname} is not checked: attaching or detaching it broke off`);
      continue;
    }
    const attachment = attachmentOf(entry, planned, request.netns);
    for (const { step } of passedOver) call.warn(notChecked(planned, list.value.plugins[step]?.type ?? ""));
    const { disableCheck } = networks.ofNode(planned) ?? list.value;
    const terms = { list: { ...list.value, disableCheck }, path: request.path, inherited: call.inherited, attachment };
    const chain = checkChain(terms, result, passedOver, lostSteps(call, planned));
    const ended = await runChain(chain, call.runStep(planned));
    if (!ended.ok) {
      return failed(needingDeletion(located(ended.fault, planned.source, planned.ifname)));
    }
  }
  return ok(undefined);
}

function notChecked({ source, ifname }: PlannedAttachment, type: string): string {
  return `network ${source} as ${ifname}: plugin ${type} is not checked: its ADD failed and was passed over`;
}

function supportsCheck({ cniVersion }: NetworkList): boolean {
  const since = versionAtLeast(cniVersion, "0.4.0");
  return since.ok && since.value;
}
