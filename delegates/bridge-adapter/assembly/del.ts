// DEL: the link, then its addresses, then the rules. A second DEL, a namespace that is gone and a configuration that ADD would refuse are
// no faults; what one part of it can't do keeps none of the others from being done.

import { AttachmentRequest } from "plexus/abi/plugin";
import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import * as links from "plexus/abi/links";
import { LinkName, Operation, Place } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { delNatively } from "./native";
import { Settings } from "./settings";
import { andThen } from "./undone";

export function del(request: AttachmentRequest): Fault | null {
  const settings = Settings.readRest(request.network);
  if (settings.fault !== null) return settings.fault;
  if (settings.native) return delNatively(request, settings);
  let failed: Fault | null = null;
  if (request.attachment.netns !== null) {
    const deleted = links.apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
    // The addresses stay reserved where the pod may still have them.
    if (!deleted.isOk) return deleted.error;
  }
  if (settings.isLayer3) failed = delegation.del(settings.ipam, null);
  if (settings.hasRules) failed = both(failed, firewall.remove());
  return failed;
}

function both(first: Fault | null, second: Fault | null): Fault | null {
  if (first === null) return second;
  if (second !== null) andThen(first, "the rules were not removed", second);
  return first;
}
