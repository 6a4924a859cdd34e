// A TAP device in the pod. README.md has its configuration.

import { LinkName, Operation, Place, Tap } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { checkOfIpam, statusOfIpam } from "plexus/ipam";
import { MainInterface } from "plexus/main-interface";
import { CheckedInterface, differs } from "plexus/main-interface-check";
import { broughtUp } from "plexus/pod-interface";
import { Some } from "plexus/some";
import { Settings } from "./settings";

export { delInterface as del, gcOfIpam as gc } from "plexus/ipam";

/** Makes the TAP device, with IPAM's addresses if `ipam` is set. After a fault the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const made = new MainInterface(request);
  const tap = new Tap(made.name, settings.multiQueue);
  tap.mac = settings.mac;
  if (settings.mtu != 0) tap.mtu = new Some<u32>(settings.mtu);
  tap.owner = settings.owner;
  tap.group = settings.group;
  tap.selinuxContext = settings.selinuxContext;
  made.making.push(Operation.addTap(tap));
  // Up before it gets addresses: without a carrier the kernel makes the multicast route with the first address of a link that is up.
  const change = broughtUp(new LinkName(Place.Pod, made.name));
  if (settings.bridge != "") change.master = settings.bridge;
  made.making.push(Operation.changeLink(change));
  made.ipam = settings.ipam;
  made.notifiesIpv4 = true;
  made.dns = settings.dns;
  return made.add();
}

/** Answers code 102 with the first difference from the result, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  let fault = settings.fault;
  if (fault === null) fault = checkOfIpam(settings.ipam);
  if (fault !== null) return fault;
  const found = CheckedInterface.find(request, "tun");
  if (found.fault !== null) return found.fault;
  const master = found.link.master;
  if (settings.bridge != "" && (master === null || master != settings.bridge))
    return differs(`Interface ${found.link.name} is not a port of bridge ${settings.bridge}`);
  return found.compare();
}

/** Whether an ADD would succeed now: the configuration is valid, and IPAM is ready. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, []);
  return settings.fault === null ? statusOfIpam(settings.ipam) : settings.fault;
}
