// The IPAM plugin of a main plugin: its type in the configuration, and the verbs in which the main plugin calls it.

import { apply, LinkName, Operation, Place } from "./abi/links";
import * as delegation from "./abi/delegation";
import { AttachmentRequest, GcRequest } from "./abi/plugin";
import { Fault, Network } from "./abi/types";
import { Config } from "./config";
import { folded, foldedMember } from "./folded";

const topKeys: StaticArray<string> = ["ipam"];
const ipamKeys: StaticArray<string> = ["type"];

/** `ipam.type` of a configuration whose keys are folded; "" if absent. */
export function ipamType(root: Config): string {
  const ipam = foldedMember(root, "ipam", ipamKeys);
  const type: string | null = ipam === null ? null : ipam.string("type");
  return type === null ? "" : type;
}

/** Whether an IPAM plugin works on the attachment's interface, which must then exist before it is called: the native dhcp does, and the delegate. */
export function needsInterface(type: string): bool {
  return type == "dhcp";
}

/** As `ipamType`; a missing type is a mistake of the configuration. */
export function requiredIpamType(root: Config): string {
  const type = ipamType(root);
  if (type == "") root.refuse("ipam.type", "is missing: set ipam to the IPAM plugin and its settings");
  return type;
}

/**
 * DEL of a main plugin: releases the addresses and removes the interface. A failure of one does not stop the other, and a missing one is no fault. Of the
 * configuration only `ipam.type` is read, so that mistakes in other keys cannot stop a DEL.
 */
export function delInterface(request: AttachmentRequest): Fault | null {
  const fault = delOfIpam(request.network);
  if (request.attachment.netns === null) return fault;
  const removed = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  return fault !== null || removed.isOk ? fault : removed.error;
}

/** DEL of the IPAM plugin; null without one. The function reads only `ipam.type` of the configuration. */
export function delOfIpam(network: Network): Fault | null {
  const ipam = IpamOnly.read(network);
  if (ipam.fault !== null || ipam.type == "") return ipam.fault;
  return delegation.del(ipam.type, null);
}

/** GC of a main plugin whose links go with the pod: only IPAM keeps state. */
export function gcOfIpam(request: GcRequest): Fault | null {
  const ipam = IpamOnly.read(request.network);
  if (ipam.fault !== null || ipam.type == "") return ipam.fault;
  return delegation.gc(ipam.type, null);
}

/** CHECK of the IPAM plugin; null without one. */
export function checkOfIpam(type: string): Fault | null {
  if (type == "") return null;
  return delegation.check(type, null);
}

/** STATUS of the IPAM plugin; null without one. */
export function statusOfIpam(type: string): Fault | null {
  if (type == "") return null;
  return delegation.status(type, null);
}

@final
class IpamOnly {
  private constructor(
    /** "" for none. */
    readonly type: string,
    readonly fault: Fault | null,
  ) {}

  static read(network: Network): IpamOnly {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    return new IpamOnly(ipamType(root), root.fault);
  }
}
