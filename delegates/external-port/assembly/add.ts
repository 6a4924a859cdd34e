// ADD: plugs the fabric's port into the pod.

import { apply, Link, LinkName, Operation, Place, read } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { invalidConfig, tryAgainLater, withDetails } from "plexus/faults";
import { Some } from "plexus/some";
import { checkMaster } from "./master";
import * as openVSwitch from "./open-vswitch";
import { addressOperations, linkOperations } from "./plug";
import { Binding, Port } from "./port";
import { Settings } from "./settings";

/** Makes the port's link with the fabric's addresses. After a fault nothing of it is left. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const port = settings.port;
  if (port === null) return SuccessOrFault.err(missingPort());
  const isOvs = port.binding == Binding.Ovs;
  if (isOvs && !openVSwitch.isGranted(request.call)) return SuccessOrFault.err(openVSwitch.notGranted());
  const refused: Fault | null = isOvs ? null : checkMaster(settings, port.mtu);
  if (refused !== null) return SuccessOrFault.err(refused);
  return isOvs ? addToSwitch(request, settings, port) : addOnMaster(request, settings, port);
}

/** The fault of a request without a port. */
export function missingPort(): Fault {
  const why =
    'is missing: the network needs a provider of ports, and this plugin the member "capabilities": {"externalPort": true}';
  return invalidConfig("runtimeConfig.externalPort", why);
}

/** A link on the master: all in one call, which undoes itself. */
function addOnMaster(request: AttachmentRequest, settings: Settings, port: Port): SuccessOrFault {
  const ifname = request.attachment.ifname;
  const operations = linkOperations(settings, port, ifname);
  const mistake = addressOperations(port, ifname, operations, request.call.remainingMs);
  if (mistake !== null) return SuccessOrFault.err(mistake);
  const applied = apply(operations);
  if (!applied.isOk) return SuccessOrFault.err(failureOf(applied.error, settings, port, ifname));
  return SuccessOrFault.ok(resultOf(request, applied.value, port));
}

/**
 * A port of the switch. It is plugged before it gets its addresses, so that the fabric installs its flows meanwhile, and duplicate address detection asks
 * in the fabric.
 */
function addToSwitch(request: AttachmentRequest, settings: Settings, port: Port): SuccessOrFault {
  const ifname = request.attachment.ifname;
  const addresses: Array<Operation> = [];
  const mistake = addressOperations(port, ifname, addresses, request.call.remainingMs);
  if (mistake !== null) return SuccessOrFault.err(mistake);
  const made = apply(linkOperations(settings, port, ifname));
  if (!made.isOk) return SuccessOrFault.err(made.error);
  const hostEnd = hostEndOf(made.value);
  let fault = openVSwitch.plug(settings, port, hostEnd);
  if (fault === null) {
    const configured = apply(addresses);
    fault = configured.isOk ? openVSwitch.untilTaken(hostEnd, request.call.remainingMs) : configured.error;
  }
  if (fault === null) return SuccessOrFault.ok(resultOf(request, made.value, port));
  // The first fault is reported. If this undo fails, the DEL that follows a failed ADD does the same.
  openVSwitch.unplug();
  apply([Operation.deleteLink(new LinkName(Place.Pod, ifname))]);
  return SuccessOrFault.err(fault);
}

function hostEndOf(links: Array<Link>): string {
  for (let i = 0; i < links.length; i++) if (links[i].place == Place.Host) return links[i].name;
  throw new Error("links made a veth without an end on the node");
}

/**
 * The fault of a failed `apply`. A VLAN that another pod has on this master is free when that pod is gone: a pod that has ended may still be on the node
 * while the fabric gives its VLAN to the next one. A fault of `links` has no errno, so its text is compared.
 */
function failureOf(fault: Fault, settings: Settings, port: Port, ifname: string): Fault {
  if (port.binding != Binding.Vlan || !fault.msg.includes("(add-vlan)") || !fault.msg.includes("EEXIST")) return fault;
  const sameName = read([new LinkName(Place.Pod, ifname)]);
  if (!sameName.isOk || sameName.value.length > 0) return fault;
  const busy = tryAgainLater(`VLAN ${port.vlan} of ${settings.master} belongs to another pod of this node`);
  return withDetails(busy, fault.msg);
}

/** The result: the veth's end on the node, if there is one, and the interface in the pod with the port's addresses and routes. */
function resultOf(request: AttachmentRequest, links: Array<Link>, port: Port): Success {
  const result = new Success();
  const pod = new NetworkInterface(request.attachment.ifname);
  pod.sandbox = request.attachment.netns;
  for (let i = 0; i < links.length; i++) {
    const link = links[i];
    if (link.place == Place.Pod && link.name == pod.name) {
      pod.mac = link.mac;
      pod.mtu = new Some<u32>(link.mtu);
    } else if (link.place == Place.Host && port.binding == Binding.Ovs) {
      const host = new NetworkInterface(link.name);
      host.mac = link.mac;
      result.interfaces.push(host);
    }
  }
  const index = result.interfaces.length;
  result.interfaces.push(pod);
  for (let i = 0; i < port.ips.length; i++) {
    const ip = new IpConfig(port.ips[i].address);
    ip.gateway = port.ips[i].gateway;
    ip.interface_ = new Some<i32>(index);
    result.ips.push(ip);
  }
  result.routes = port.routes;
  return result;
}
