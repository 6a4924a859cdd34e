// DEL: the link, then its addresses, then the rules. A second DEL, a missing namespace and a configuration that ADD would refuse
// are no faults. A failure of one part does not stop the others.

import { AttachmentRequest } from "plexus/abi/plugin";
import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import * as links from "plexus/abi/links";
import { LinkName, Operation, Place } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { needsInterface } from "plexus/ipam";
import { keepsRulesWithoutFirewall } from "./grants";
import { delNatively } from "./native";
import { Settings } from "./settings";
import { addDetail } from "plexus/undo-faults";

/** Removes the link, the addresses and the rules. The first fault is answered, with the others in its details. */
export function del(request: AttachmentRequest): Fault | null {
  const settings = Settings.readRest(request.network);
  if (settings.fault !== null) return settings.fault;
  if (settings.native) return delNatively(request, settings);
  // An IPAM plugin that works on the interface releases its lease there.
  const ipamFirst = settings.isLayer3 && needsInterface(settings.ipam);
  let failed: Fault | null = ipamFirst ? delegation.del(settings.ipam, null) : null;
  if (request.attachment.netns !== null) {
    const deleted = links.apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
    // The addresses stay reserved, because the pod may still have them.
    if (!deleted.isOk) return deleted.error;
  }
  if (settings.isLayer3 && !ipamFirst) failed = delegation.del(settings.ipam, null);
  const remaining = keepsRulesWithoutFirewall(request, settings);
  if (remaining !== null) return withRuleFault(failed, remaining);
  if (settings.hasRules && request.call.granted.includes("firewall")) failed = withRuleFault(failed, firewall.remove());
  return failed;
}

/** `failed` together with the fault of removing the rules; null: both parts succeeded. */
function withRuleFault(failed: Fault | null, ruleFault: Fault | null): Fault | null {
  if (failed === null) return ruleFault;
  if (ruleFault !== null) addDetail(failed, "the rules were not removed", ruleFault);
  return failed;
}
