// The port of an outer fabric as an interface of the pod. README.md has the configuration.

import { apply, LinkName, Operation, Place } from "plexus/abi/links";
import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { CniCode } from "plexus/faults";
import { NO_MASTER } from "./codes";
import { checkMaster } from "./master";
import * as openVSwitch from "./open-vswitch";
import { Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";

/**
 * Removes the switch's port and the link; a failure of one does not stop the other. A missing link, namespace or port, and a configuration that ADD would
 * refuse, are not errors.
 */
export function del(request: AttachmentRequest): Fault | null {
  const unplugged: Fault | null = openVSwitch.isGranted(request.call) ? openVSwitch.unplug() : lostPort(request);
  if (request.attachment.netns === null) return unplugged;
  const removed = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  return unplugged !== null || removed.isOk ? unplugged : removed.error;
}

/** Without a grant, a port that ADD plugged would stay in the switch: a fault tells. */
function lostPort(request: AttachmentRequest): Fault | null {
  if (request.prevResult === null) return null;
  const port = Settings.read(request.network, request.attachment.args).port;
  return port !== null && port.interfaceId != "" ? openVSwitch.notGranted() : null;
}

/** Removes ports of the switch. A link goes with its pod's namespace. */
export function gc(request: GcRequest): Fault | null {
  return openVSwitch.isGranted(request.call) ? openVSwitch.retain(request.valid) : null;
}

/** Whether an ADD could plug a port now: the configuration is valid, Open vSwitch answers, and the node has the master. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, []);
  if (settings.fault !== null) return settings.fault;
  const unavailable: Fault | null = settings.bridge == "" ? null : openVSwitch.unavailable(request.call);
  if (unavailable !== null || settings.master == "") return unavailable;
  const fault = checkMaster(settings, null);
  if (fault !== null && fault.code == NO_MASTER) return new Fault(CniCode.NotAvailable, fault.msg);
  return fault;
}
