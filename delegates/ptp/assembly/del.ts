// DEL: the veth, then its addresses, then the rules. A second DEL and a missing namespace are no faults.

import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import { apply, LinkName, Operation, Place } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault } from "plexus/abi/types";
import { keepsRulesWithoutFirewall } from "plexus/optional-firewall";
import { addDetail } from "plexus/undo-faults";
import { Settings } from "./settings";

/** Removes the veth, the addresses and the rules. The first fault is answered, with the others in its details. */
export function del(request: AttachmentRequest): Fault | null {
  const settings = Settings.readForCleaning(request.network);
  if (settings.fault !== null) return settings.fault;
  if (request.attachment.netns !== null) {
    const deleted = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
    // The addresses stay reserved, because the pod may still have them.
    if (!deleted.isOk) return deleted.error;
  }
  const fault = delegation.del(settings.ipam, null);
  const ruleFault = removeRules(request, settings);
  if (fault !== null && ruleFault !== null) addDetail(fault, "the rules were not removed", ruleFault);
  return fault !== null ? fault : ruleFault;
}

function removeRules(request: AttachmentRequest, settings: Settings): Fault | null {
  if (!settings.ipMasq) return null;
  if (request.call.granted.includes("firewall")) return firewall.remove();
  // Without a result there was no attachment, and nothing is to be removed.
  return request.prevResult === null ? null : keepsRulesWithoutFirewall(request.call, settings.ruleSetting);
}
