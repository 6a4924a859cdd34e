// CHECK: the attachment still holds the addresses of its ADD.

import { AttachmentRequest } from "plexus/abi/plugin";
import { AttachmentId, Fault } from "plexus/abi/types";
import * as leases from "plexus/abi/leases";
import { Cidr } from "plexus/cidr";
import { notHeld } from "./faults";
import { Settings } from "./settings";

/** Answers code 103 if the attachment does not hold the addresses of its result. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return settings.fault;
  const attachment = request.attachment;
  const held = leases.held(settings.pool(0), new AttachmentId(attachment.containerId, attachment.ifname));
  if (!held.isOk) return held.error;
  const who = `${attachment.containerId}/${attachment.ifname}`;
  if (held.value.length == 0) return notHeld(`${who} holds no address of the network ${request.network.name}`);
  const previous = request.prevResult;
  if (previous === null) return null;
  for (let i = 0; i < previous.ips.length; i++) {
    const ip = Cidr.parse(previous.ips[i].address);
    // Other plugins of the chain own their addresses.
    if (ip === null || !isInRanges(settings, ip)) continue;
    if (!held.value.includes(ip.ip.toString())) {
      return notHeld(`${who} has ${ip.ip.toString()} in its result, but holds ${held.value.join(", ")}`);
    }
  }
  return null;
}

function isInRanges(settings: Settings, cidr: Cidr): bool {
  for (let i = 0; i < settings.sets.length; i++) if (settings.sets[i].rangeOf(cidr.ip) !== null) return true;
  return false;
}
