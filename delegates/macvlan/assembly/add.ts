// ADD: addresses first, then the link with all its settings in one call.

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

/** Makes the macvlan with IPAM's addresses. After a fault the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  let fault = settings.fault;
  if (fault === null) fault = findMaster(settings);
  // The kernel also refuses an MTU that is too large, but cannot report the master's.
  if (fault === null && settings.mtu != 0) fault = checkMaster(settings);
  if (fault !== null) return SuccessOrFault.err(fault);
  if (settings.ipam == "") return make(settings, request, new Success());

  const ipamAnswer = delegation.add(settings.ipam, null);
  if (!ipamAnswer.isOk) return ipamAnswer;
  const made = make(settings, request, ipamAnswer.value);
  if (made.isOk) return made;
  // The first fault is reported. If this DEL fails, the runtime's DEL releases the address.
  delegation.del(settings.ipam, null);
  return made;
}

/** Creates the interface with IPAM's addresses and routes; without IPAM it has none. */
function make(settings: Settings, request: AttachmentRequest, ipamResult: Success): SuccessOrFault {
  const ifname = request.attachment.ifname;
  const operations: Array<Operation> = [Operation.addMacvlan(linkOf(settings, ifname))];
  const pod = new LinkName(Place.Pod, ifname);
  if (settings.ipam == "") {
    operations.push(Operation.changeLink(broughtUp(pod)));
  } else {
    if (ipamResult.ips.length == 0)
      return SuccessOrFault.err(ownFault(NO_ADDRESS, `IPAM plugin ${settings.ipam} returned missing IP config`));
    operations.push(Operation.setInterface(new InterfaceSetting(pod, Family.Ipv4, "arp_notify", "1", false)));
    operations.push(Operation.setInterface(new InterfaceSetting(pod, Family.Ipv6, "ndisc_notify", "1", false)));
    const fault = configureInterface(ifname, ipamResult.ips, ipamResult.routes, operations, request.call.remainingMs);
    if (fault !== null) return SuccessOrFault.err(fault);
  }
  const applied = apply(operations);
  if (!applied.isOk) return SuccessOrFault.err(applied.error);
  return SuccessOrFault.ok(resultOf(settings, request, applied.value, ipamResult));
}

function linkOf(settings: Settings, ifname: string): Macvlan {
  const macvlan = new Macvlan(ifname, settings.masterLink, settings.mode);
  macvlan.mac = settings.mac;
  if (settings.mtu != 0) macvlan.mtu = new Some<u32>(<u32>settings.mtu);
  macvlan.broadcastQueue = settings.broadcastQueue;
  return macvlan;
}

function resultOf(settings: Settings, request: AttachmentRequest, links: Array<Link>, ipamResult: Success): Success {
  const result = new Success();
  const made = new NetworkInterface(request.attachment.ifname);
  made.sandbox = request.attachment.netns;
  for (let i = 0; i < links.length; i++) {
    if (links[i].place == Place.Pod && links[i].name == made.name) made.mac = links[i].mac;
  }
  result.interfaces.push(made);
  for (let i = 0; i < ipamResult.ips.length; i++) {
    const ip = new IpConfig(ipamResult.ips[i].address);
    ip.gateway = ipamResult.ips[i].gateway;
    ip.interface_ = new Some<i32>(0);
    result.ips.push(ip);
  }
  result.routes = ipamResult.routes;
  result.dns = settings.dns;
  return result;
}
