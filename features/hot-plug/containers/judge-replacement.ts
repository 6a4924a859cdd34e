// Decides whether an attachment of a running pod may be replaced by another one of its network, whose requests have changed. A replacement detaches first, so
// that only one may be made whose ADD is not refused: the pod would be left without the network.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { asksForDefaultRoute } from "../../../src/npwg/hot-plug-difference.ts";
import type { Cluster } from "../../../host/cluster/cluster.ts";
import type { Call } from "../../../host/engine/call.ts";
import type { PlannedAttachment } from "../../../host/store/journal/entry.ts";
import { planAddition, type WantedAddition } from "./plan-addition.ts";
import type { RunningContainer } from "./running-container.ts";

/**
 * Plans the replacement as if its predecessor `ifname` were gone. Faults: HOT_PLUG_REFUSED if the predecessor has the pod's default route, and those of
 * `planAddition`.
 */
export async function judgeReplacement(
  call: Call,
  cluster: Cluster,
  container: RunningContainer,
  ifname: string,
  wanted: WantedAddition,
): Promise<Result<void>> {
  const { entry, before } = container;
  const present = entry.plan.attachments.find((each) => each.ifname === ifname);
  const refusal = present && keepsDefaultRoute(present);
  if (refusal !== undefined) return failed(refusal);
  const without: RunningContainer = {
    ...container,
    entry: {
      ...entry,
      plan: { ...entry.plan, attachments: entry.plan.attachments.filter((each) => each !== present) },
      progress: entry.progress.filter((_, index) => entry.plan.attachments[index] !== present),
    },
    before: { ...before, links: before.links.filter(({ name }) => name !== ifname) },
  };
  const planned = await planAddition(call, cluster, without, wanted);
  return planned.ok ? ok(undefined) : planned;
}

/** Why the attachment must stay: the ADD took the default network's default route for it, and nothing gives that back. Undefined: it may go. */
export function keepsDefaultRoute({ source, ifname, hotPlug }: PlannedAttachment): Fault | undefined {
  const { requests } = hotPlug?.selected ?? {};
  if (requests === undefined || !asksForDefaultRoute(requests)) return undefined;
  return fault(
    "HOT_PLUG_REFUSED",
    `network ${source} as ${ifname} has the pod's default route, which cannot be changed while the pod runs`,
  );
}
