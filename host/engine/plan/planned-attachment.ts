// An attachment as the journal has it, with the facts for later changes of the running pod if the key `hotPlug` is on.

import { requestsText } from "../../../src/npwg/hot-plug-difference.ts";
import type { HotPlugFacts, PlannedAttachment } from "../../store/journal/entry.ts";
import type { AttachmentPlan } from "../planned/attachment-plan.ts";

/** The attachment for the journal. `callArgs`: the call's CNI_ARGS. */
export function plannedAttachment(plan: AttachmentPlan, callArgs: string, hotPlug: HotPlugFacts | undefined): PlannedAttachment {
  const { list, attachment, source, conflist, binding, podNetwork, claim } = plan;
  return {
    network: list.name,
    ifname: attachment.ifname,
    source,
    conflist,
    capabilityArgs: Object.fromEntries(attachment.capabilityArgs),
    // MC-23.
    ...(attachment.args === callArgs ? {} : { cniArgs: attachment.args }),
    ...(binding === undefined ? {} : { definition: binding.definition }),
    ...(podNetwork === undefined ? {} : { podNetwork }),
    ...(claim === undefined ? {} : { claim }),
    ...(hotPlug === undefined ? {} : { hotPlug }),
  };
}

/** The origin of an attachment, for the comparison with the pod's annotation. */
export type AttachmentOrigin = Pick<HotPlugFacts, "selected" | "requested">;

/** The origin of an attachment of an ADD: the pod's annotation, or none for the default network, a PodNetwork, a claim and the administrator's networks. */
export function originInAdd({ request, podNetwork, claim }: AttachmentPlan, index: number): AttachmentOrigin {
  return index === 0 || request === undefined || podNetwork !== undefined || claim !== undefined
    ? {}
    : selectedOrigin(request.selection);
}

/** The origin of an attachment that the pod's annotation selects. */
export function selectedOrigin(selection: Parameters<typeof requestsText>[0]): AttachmentOrigin {
  const name = selection.interface === undefined ? {} : { interface: selection.interface };
  return { selected: { ...name, requests: requestsText(selection) } };
}

/** The facts about an attachment that its later status and its comparison with the annotation need. */
export function hotPlugFacts({ statusName, request, podNetwork }: AttachmentPlan, origin: AttachmentOrigin): HotPlugFacts {
  const { defaultRoute, defaultRouteFamilies } = request?.selection ?? {};
  return {
    ...origin,
    ...(statusName === undefined ? {} : { statusName }),
    ...(defaultRoute === undefined ? {} : { defaultRoute }),
    ...(podNetwork === undefined ? {} : { podNetwork }),
    ...(defaultRouteFamilies === undefined ? {} : { gatewayOf: defaultRouteFamilies }),
  };
}
