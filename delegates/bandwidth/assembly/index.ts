// A chained delegate that bounds the pod's traffic. README.md has its configuration.

import { AttachmentRequest, Fault, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { difference, nodeLink, remove, replace, retain } from "plexus/abi/shaping";
import { NetworkInterface, Success } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { Settings } from "./settings";

/** CHECK: the kernel's state differs from the configured bounds. */
const NOT_IN_FORCE: u32 = 100;
/** The interface has no end on the node. */
const NO_VETH: u32 = 101;

/** Answers the previous result, with the device through which the pod's packets go. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(missingResult());
  const shape = settings.shape;
  if (shape === null) return SuccessOrFault.ok(result);
  const made = replace(shape);
  if (!made.isOk) return SuccessOrFault.err(refusal(request.attachment.ifname, made.error));
  const device = made.value;
  if (device !== null) addDevice(result, device.name, device.mac);
  return SuccessOrFault.ok(result);
}

/** A repeated ADD has the device of the first in its previous result. */
function addDevice(result: Success, name: string, mac: string): void {
  for (let i = 0; i < result.interfaces.length; i++) {
    if (result.interfaces[i].name != name || result.interfaces[i].sandbox !== null) continue;
    result.interfaces[i].mac = mac;
    return;
  }
  const added = new NetworkInterface(name);
  added.mac = mac;
  result.interfaces.push(added);
}

/** Ignores mistakes in the configuration: a device that is not removed here stays on the node. */
export function del(_request: AttachmentRequest): Fault | null {
  return remove();
}

/** Answers code 100 unless exactly the configured bounds are in force. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  if (request.prevResult === null) return missingResult();
  const shape = settings.shape;
  if (shape === null) return null;
  const differs = difference(shape);
  if (!differs.isOk) return refusal(request.attachment.ifname, differs.error);
  const why = differs.value;
  return why === null ? null : ownFault(NOT_IN_FORCE, `the bounds of ${request.attachment.ifname} are not in force: ${why}`);
}

/** The fault of an interface that cannot be bounded; `fault` for all other causes. */
function refusal(ifname: string, fault: Fault): Fault {
  const found = nodeLink();
  if (!found.isOk || found.value !== null) return fault;
  const why = `interface ${ifname} is missing, or is no veth with its other end on the node: only veths can be bounded`;
  return ownFault(NO_VETH, why);
}

/** Removes the devices of attachments that are not valid. */
export function gc(request: GcRequest): Fault | null {
  const retained = retain(request.valid);
  return retained.isOk ? null : retained.error;
}

/** Succeeds for a valid configuration. */
export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network).fault;
}

function missingResult(): Fault {
  return invalidConfig("prevResult", "is missing: bandwidth must follow a plugin that makes a veth for the pod");
}
