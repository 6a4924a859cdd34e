// The port of an outer fabric as an interface of the pod. README.md has the configuration.

import { apply, LinkName, Operation, Place } from "plexus/abi/links";
import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { CniCode } from "plexus/faults";
import { NO_MASTER } from "./codes";
import { checkMaster } from "./master";
import { Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";

/** Removes the link. A missing link, namespace or port, and a configuration that ADD would refuse, are not errors. */
export function del(request: AttachmentRequest): Fault | null {
  if (request.attachment.netns === null) return null;
  const removed = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  return removed.isOk ? null : removed.error;
}

/** A link goes with its pod's namespace. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Whether an ADD could plug a port now: the configuration is valid, and the node has the master. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, []);
  if (settings.fault !== null) return settings.fault;
  if (settings.master == "") return null;
  const fault = checkMaster(settings, null);
  if (fault !== null && fault.code == NO_MASTER) return new Fault(CniCode.NotAvailable, fault.msg);
  return fault;
}
