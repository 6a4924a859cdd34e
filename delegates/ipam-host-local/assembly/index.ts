// Addresses out of ranges, kept on this node: native host-local's behaviour and files, with GC and STATUS besides.

import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { AttachmentId, Fault } from "plexus/abi/types";
import * as leases from "plexus/abi/leases";
import { Place } from "./settings";

export { add } from "./add";
export { check } from "./check";
export { status } from "./status";

/** Gives back all that the attachment holds. Nothing held is no error, nor is a configuration that ADD would refuse. */
export function del(request: AttachmentRequest): Fault | null {
  const place = Place.read(request.network);
  if (place.fault !== null) return place.fault;
  const owner = new AttachmentId(request.attachment.containerId, request.attachment.ifname);
  const released = leases.release(place.pool(0), owner);
  return released.isOk ? null : released.error;
}

/** Gives back what no attachment of the network holds any more. */
export function gc(request: GcRequest): Fault | null {
  const place = Place.read(request.network);
  if (place.fault !== null) return place.fault;
  const released = leases.retain(place.pool(0), request.valid);
  return released.isOk ? null : released.error;
}
