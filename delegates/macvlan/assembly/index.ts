// A macvlan for the pod on a link of the node. README.md has its configuration.

import { apply, LinkName, Operation, Place } from "plexus/abi/links";
import * as delegation from "plexus/abi/delegation";
import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { CniCode } from "plexus/faults";
import { NO_MASTER } from "./codes";
import { checkMaster, findMaster } from "./master";
import { Ipam, Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";

/** Releases the addresses and removes the link; a failure of one does not stop the other, and a missing one is not a fault. */
export function del(request: AttachmentRequest): Fault | null {
  const ipam = Ipam.read(request.network);
  let fault = ipam.fault;
  if (fault === null && ipam.type != "") fault = delegation.del(ipam.type, null);
  if (request.attachment.netns === null) return fault;
  const removed = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  return fault !== null || removed.isOk ? fault : removed.error;
}

/** Only IPAM keeps state. */
export function gc(request: GcRequest): Fault | null {
  const ipam = Ipam.read(request.network);
  if (ipam.fault !== null || ipam.type == "") return ipam.fault;
  return delegation.gc(ipam.type, null);
}

/**
 * Whether an ADD would succeed now: the configuration is valid, IPAM is ready, and the node has the master. A master in the pod
 * (`linkInContainer`) exists only with its pod.
 */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, []);
  if (settings.fault !== null) return settings.fault;
  const unready: Fault | null = settings.ipam == "" ? null : delegation.status(settings.ipam, null);
  if (unready !== null || settings.place == Place.Pod) return unready;
  let fault = findMaster(settings);
  if (fault === null) fault = checkMaster(settings);
  if (fault !== null && fault.code == NO_MASTER) return new Fault(CniCode.NotAvailable, fault.msg);
  return fault;
}
