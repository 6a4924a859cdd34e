// A port of the node's Open vSwitch: the node's end of the pod's veth, with the `external_ids:iface-id` by which the fabric knows it.

import { Link } from "plexus/abi/links";
import * as ovs from "plexus/abi/ovs";
import { Call, Fault } from "plexus/abi/types";
import { CniCode, invalidConfig } from "plexus/faults";
import { sameMac } from "plexus/mac";
import { waitWithin } from "plexus/waits";
import { differs } from "./codes";
import { Port } from "./port";
import { Settings } from "./settings";

/** Longest wait for ovs-vswitchd to take a port, in milliseconds. */
const settleMilliseconds: u32 = 5000;

/** Whether this call may use Open vSwitch. */
export function isGranted(call: Call): bool {
  return call.granted.includes("ovs");
}

/** The fault of a call that needs Open vSwitch without a grant. */
export function notGranted(): Fault {
  return invalidConfig(
    "bridge",
    "ports of an Open vSwitch bridge need the capability ovs, which is not granted to this plugin (wasm.grants)",
  );
}

/** Makes the node's end of the veth a port of the bridge. */
export function plug(settings: Settings, port: Port, hostEnd: string): Fault | null {
  return ovs.addPort(new ovs.NewPort(settings.bridge, hostEnd, port.interfaceId, port.mac));
}

/** Waits until ovs-vswitchd has taken the port, at most half of `remainingMs`. A port that it could not take is a fault. */
export function untilTaken(hostEnd: string, remainingMs: u32): Fault | null {
  const settled = ovs.settle(hostEnd, waitWithin(remainingMs, settleMilliseconds));
  return settled.isOk ? null : settled.error;
}

/** Removes the attachment's ports. Succeeds also without ports. */
export function unplug(): Fault | null {
  const removed = ovs.removePorts();
  return removed.isOk ? null : removed.error;
}

/** CHECK: the port still is as ADD made it, and ovs-vswitchd has taken it. */
export function switchDiffers(call: Call, settings: Settings, port: Port, link: Link): Fault | null {
  if (!isGranted(call)) return notGranted();
  const hostEnd = link.peer;
  if (hostEnd === null) return differs(`the other end of the pod's ${link.name} is not on the node`);
  const found = ovs.port(hostEnd);
  if (!found.isOk) return found.error;
  const present = found.value;
  if (present === null) return differs(`Open vSwitch has no port ${hostEnd} of this pod`);
  if (present.bridge != settings.bridge)
    return differs(`port ${hostEnd} is on bridge ${present.bridge}, and not on ${settings.bridge}`);
  if (present.interfaceId != port.interfaceId)
    return differs(`port ${hostEnd} has iface-id ${present.interfaceId}, and the fabric's port ${port.interfaceId}`);
  if (!sameMac(present.mac, port.mac))
    return differs(`port ${hostEnd} has attached-mac ${present.mac}, and the fabric's port ${port.mac}`);
  const error = present.error;
  return error === null ? null : differs(`ovs-vswitchd cannot use port ${hostEnd}: ${error}`);
}

/** STATUS: code 50 if a port could not be plugged now. */
export function unavailable(call: Call): Fault | null {
  const fault: Fault | null = isGranted(call) ? ovs.probe() : notGranted();
  return fault === null ? null : new Fault(CniCode.NotAvailable, fault.msg);
}

/** GC: removes the ports of attachments that are not valid. */
export function retain(valid: Array<ovs.AttachmentId>): Fault | null {
  const removed = ovs.retain(valid);
  return removed.isOk ? null : removed.error;
}
