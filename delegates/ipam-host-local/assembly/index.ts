// Addresses from ranges, kept on this node: native host-local's behaviour and files, with GC and STATUS in addition.

import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { AttachmentId, Fault } from "plexus/abi/types";
import * as leases from "plexus/abi/leases";
import { LeaseLocation } from "./settings";

export { add } from "./add";
export { check } from "./check";
export { status } from "./status";

/** Releases all addresses of the attachment. No address is no error, and neither is a configuration that ADD would refuse. */
export function del(request: AttachmentRequest): Fault | null {
  const location = LeaseLocation.read(request.network);
  if (location.fault !== null) return location.fault;
  const owner = new AttachmentId(request.attachment.containerId, request.attachment.ifname);
  const released = leases.release(location.pool(0), owner);
  return released.isOk ? null : released.error;
}

/** Releases addresses whose attachment is stale. */
export function gc(request: GcRequest): Fault | null {
  const location = LeaseLocation.read(request.network);
  if (location.fault !== null) return location.fault;
  const released = leases.retain(location.pool(0), request.valid);
  return released.isOk ? null : released.error;
}
