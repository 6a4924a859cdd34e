// A macvlan of a link of the node for the pod. README.md has its configuration.

import { apply, LinkName, Operation, Place } from "plexus/abi/links";
import * as delegation from "plexus/abi/delegation";
import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { Fault, Network } from "plexus/abi/types";
import { Ipam } from "./settings";

export { add } from "./add";
export { check } from "./check";

/** Gives the addresses back and removes the link, each even where the other fails; neither's absence is a fault. */
export function del(request: AttachmentRequest): Fault | null {
  const ipam = Ipam.read(request.network);
  let fault = ipam.fault;
  if (fault === null && ipam.type != "") fault = delegation.del(ipam.type, null);
  if (request.attachment.netns === null) return fault;
  const removed = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  return fault !== null || removed.isOk ? fault : removed.error;
}

/** Nothing is kept but what IPAM keeps. */
export function gc(request: GcRequest): Fault | null {
  const ipam = Ipam.read(request.network);
  if (ipam.fault !== null || ipam.type == "") return ipam.fault;
  return delegation.gc(ipam.type, null);
}

/** Whether IPAM could serve an ADD now. */
export function status(network: Network): Fault | null {
  const ipam = Ipam.read(network);
  if (ipam.fault !== null || ipam.type == "") return ipam.fault;
  return delegation.status(ipam.type, null);
}
