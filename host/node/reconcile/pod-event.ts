// The Event on a pod whose attachments a round undid or could not undo.

import type { Call } from "../../engine/call.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { JournalPlan } from "../../store/journal/entry.ts";
import type { Handled } from "./finding.ts";

/** Creates an Event on the pod, if an API server is configured. The pod may no longer exist. */
export async function createPodEvent(call: Call, plan: JournalPlan, { handling, note }: Handled): Promise<void> {
  if (!["cleaned", "given-up", "failed"].includes(handling)) return;
  const identity = podIdentity(plan.cniArgs);
  if (!identity.ok || identity.value === undefined) return;
  const cluster = await call.cluster();
  const networks = plan.attachments.map(({ source, ifname }) => `${source} as ${ifname}`).join(", ");
  const subject = `sandbox ${plan.containerId} was removed without a DEL; its networks (${networks})`;
  cluster?.tell(
    identity.value,
    handling === "cleaned"
      ? { reason: "StaleAttachmentRemoved", message: `${subject} were removed` }
      : { reason: "StaleAttachmentLeft", message: `${subject} could not be removed: ${note ?? "given up"}` },
  );
}
