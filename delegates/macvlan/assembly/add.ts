// ADD: addresses first, then everything of the link in one go.

import { apply, Family, InterfaceSetting, Link, LinkName, Macvlan, Operation, Place } from "plexus/abi/links";
import * as delegation from "plexus/abi/delegation";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { broughtUp, configureInterface } from "plexus/pod-interface";
import { Some } from "plexus/some";
import { NO_ADDRESS } from "./codes";
import { checkMaster, findMaster } from "./master";
import { Settings } from "./settings";

export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  let fault = settings.fault;
  if (fault === null) fault = findMaster(settings);
  // The kernel refuses an MTU that is too large, too, but can't say what the master's is.
  if (fault === null && settings.mtu != 0) fault = checkMaster(settings);
  if (fault !== null) return SuccessOrFault.err(fault);
  if (settings.ipam == "") return make(settings, request, new Success());

  const addressed = delegation.add(settings.ipam, null);
  if (!addressed.isOk) return addressed;
  const made = make(settings, request, addressed.value);
  if (made.isOk) return made;
  // What went wrong first is what matters; the address that DEL could not give back is the runtime's DEL to give back.
  delegation.del(settings.ipam, null);
  return made;
}

/** Makes the interface with IPAM's addresses and routes; without IPAM, there are none. */
function make(settings: Settings, request: AttachmentRequest, given: Success): SuccessOrFault {
  const ifname = request.attachment.ifname;
  const operations: Array<Operation> = [Operation.addMacvlan(linkOf(settings, ifname))];
  const pod = new LinkName(Place.Pod, ifname);
  if (settings.ipam == "") {
    operations.push(Operation.changeLink(broughtUp(pod)));
  } else {
    if (given.ips.length == 0)
      return SuccessOrFault.err(ownFault(NO_ADDRESS, `IPAM plugin ${settings.ipam} returned missing IP config`));
    operations.push(Operation.setInterface(new InterfaceSetting(pod, Family.Ipv4, "arp_notify", "1", false)));
    operations.push(Operation.setInterface(new InterfaceSetting(pod, Family.Ipv6, "ndisc_notify", "1", false)));
    const fault = configureInterface(ifname, given.ips, given.routes, operations);
    if (fault !== null) return SuccessOrFault.err(fault);
  }
  const applied = apply(operations);
  if (!applied.isOk) return SuccessOrFault.err(applied.error);
  return SuccessOrFault.ok(resultOf(settings, request, applied.value, given));
}

function linkOf(settings: Settings, ifname: string): Macvlan {
  const macvlan = new Macvlan(ifname, settings.masterLink, settings.mode);
  macvlan.mac = settings.mac;
  if (settings.mtu != 0) macvlan.mtu = new Some<u32>(<u32>settings.mtu);
  macvlan.broadcastQueue = settings.broadcastQueue;
  return macvlan;
}

function resultOf(settings: Settings, request: AttachmentRequest, links: Array<Link>, given: Success): Success {
  const result = new Success();
  const made = new NetworkInterface(request.attachment.ifname);
  made.sandbox = request.attachment.netns;
  for (let i = 0; i < links.length; i++) {
    if (links[i].place == Place.Pod && links[i].name == made.name) made.mac = links[i].mac;
  }
  result.interfaces.push(made);
  for (let i = 0; i < given.ips.length; i++) {
    const ip = new IpConfig(given.ips[i].address);
    ip.gateway = given.ips[i].gateway;
    ip.interface_ = new Some<i32>(0);
    result.ips.push(ip);
  }
  result.routes = given.routes;
  result.dns = settings.dns;
  return result;
}
