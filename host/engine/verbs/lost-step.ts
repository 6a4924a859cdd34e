// A step that the journal has and today's list of its network lacks, and whose plugin is uninstalled: the trace of an uninstalled service mesh. A
// runtime executes today's list and so leaves such a step out. Without this rule each pod of the mesh would stay in deletion until DEL is given up.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import type { PlannedAttachment } from "../../store/journal/entry.ts";
import type { Call } from "../call.ts";
import { CurrentNetworks, isDefinition } from "../plan/current-network.ts";

/** Whether a failed step is left out. */
export type LeavesOut = (step: Pick<ChainStep, "index" | "plugin">, failure: Pick<Fault, "kind">) => boolean;

/**
 * Decides for the steps of an attachment to a network that the administrator configured on this node. A step of a definition is never left out,
 * because its list of today may not be readable in a DEL. Neither is the first step, which made the interface.
 */
export function lostSteps(call: Call, planned: PlannedAttachment): LeavesOut {
  const networks = new CurrentNetworks(call);
  return ({ index, plugin: { type } }, { kind }) => {
    if (index === 0 || kind !== "PLUGIN_NOT_FOUND" || isDefinition(planned)) return false;
    const today = networks.ofNode(planned);
    if (today === undefined || today.plugins.some((plugin) => plugin.type === type)) return false;
    call.warn(
      `network ${planned.source} as ${planned.ifname}: the step ${type} is left out: its plugin is not installed, and ${type} is no longer in the list of ${today.name}`,
    );
    return true;
  };
}
