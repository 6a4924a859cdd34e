// ADD: addresses first, then the macvlan with all its settings in one call.

import { Macvlan, Operation } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { refuseUnprobed } from "plexus/conflict-detection";
import { MainInterface } from "plexus/main-interface";
import { Some } from "plexus/some";
import { Settings } from "./settings";

/** Makes the macvlan with IPAM's addresses. After a fault the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  let fault = settings.fault;
  if (fault === null) fault = settings.master.find();
  // The kernel also refuses an MTU that is too large, but cannot report the master's.
  if (fault === null && settings.mtu != 0) fault = settings.master.check(settings.mtu);
  if (fault === null) fault = refuseUnprobed(settings.conflictDetection, request.call);
  if (fault !== null) return SuccessOrFault.err(fault);
  const made = new MainInterface(request);
  const macvlan = new Macvlan(made.name, settings.master.link, settings.mode);
  macvlan.mac = settings.mac;
  if (settings.mtu != 0) macvlan.mtu = new Some<u32>(<u32>settings.mtu);
  macvlan.broadcastQueue = settings.broadcastQueue;
  made.making.push(Operation.addMacvlan(macvlan));
  made.ipam = settings.ipam;
  made.addressCheck = settings.conflictDetection;
  made.notifiesIpv4 = true;
  made.notifiesIpv6 = true;
  made.dns = settings.dns;
  return made.add();
}
