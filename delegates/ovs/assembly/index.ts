// A port of an Open vSwitch bridge for the pod. README.md has its configuration.

import * as ovs from "plexus/abi/ovs";
import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { CniCode } from "plexus/faults";
import { delInterface, gcOfIpam, statusOfIpam } from "plexus/ipam";
import { addDetail } from "plexus/undo-faults";
import { Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";

/**
 * Releases the addresses, removes the link and the ports. A failure of one does not stop the others; the first is answered, with the other in its details.
 * DEL reads only `ipam.type` of the configuration.
 */
export function del(request: AttachmentRequest): Fault | null {
  const fault = delInterface(request);
  const removed = ovs.removePorts();
  return firstOf(fault, removed.isOk ? null : removed.error);
}

/** Calls IPAM's GC, and removes the ports of stale attachments. Their links disappeared with their namespaces. */
export function gc(request: GcRequest): Fault | null {
  const fault = gcOfIpam(request);
  const removed = ovs.retain(request.valid);
  return firstOf(fault, removed.isOk ? null : removed.error);
}

/** Whether an ADD would succeed now: the configuration is valid, IPAM is ready, and Open vSwitch has a granted bridge. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.readShared(request.network);
  if (settings.fault !== null) return settings.fault;
  const fault = statusOfIpam(settings.ipam);
  if (fault !== null) return fault;
  const unavailable = ovs.probe();
  return unavailable === null ? null : new Fault(CniCode.NotAvailable, unavailable.msg);
}

function firstOf(fault: Fault | null, ofPorts: Fault | null): Fault | null {
  if (fault !== null && ofPorts !== null) addDetail(fault, "the ports of Open vSwitch were not removed", ofPorts);
  return fault !== null ? fault : ofPorts;
}
