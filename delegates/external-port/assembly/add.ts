// ADD: plugs the fabric's port into the pod.

import { apply, Link, LinkName, Place, read } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { invalidConfig, tryAgainLater, withDetails } from "plexus/faults";
import { Some } from "plexus/some";
import { checkMaster } from "./master";
import { addressOperations, linkOperations } from "./plug";
import { Binding, Port } from "./port";
import { Settings } from "./settings";

/** Makes the port's link with the fabric's addresses. After a fault nothing of it is left. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const port = settings.port;
  if (port === null) return SuccessOrFault.err(missingPort());
  const refused = checkMaster(settings, port.mtu);
  if (refused !== null) return SuccessOrFault.err(refused);
  const operations = linkOperations(settings, port, request.attachment.ifname);
  const mistake = addressOperations(port, request.attachment.ifname, operations);
  if (mistake !== null) return SuccessOrFault.err(mistake);
  const applied = apply(operations);
  if (!applied.isOk) return SuccessOrFault.err(failureOf(applied.error, settings, port, request.attachment.ifname));
  return SuccessOrFault.ok(resultOf(request, applied.value, port));
}

/** The fault of a request without a port. */
export function missingPort(): Fault {
  const why =
    'is missing: the network needs a provider of ports, and this plugin the member "capabilities": {"externalPort": true}';
  return invalidConfig("runtimeConfig.externalPort", why);
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

/** The result: the interface in the pod, with the port's addresses and routes. */
function resultOf(request: AttachmentRequest, links: Array<Link>, port: Port): Success {
  const result = new Success();
  const pod = new NetworkInterface(request.attachment.ifname);
  pod.sandbox = request.attachment.netns;
  for (let i = 0; i < links.length; i++) {
    const link = links[i];
    if (link.place == Place.Pod && link.name == pod.name) {
      pod.mac = link.mac;
      pod.mtu = new Some<u32>(link.mtu);
    }
  }
  result.interfaces.push(pod);
  for (let i = 0; i < port.ips.length; i++) {
    const ip = new IpConfig(port.ips[i].address);
    ip.gateway = port.ips[i].gateway;
    ip.interface_ = new Some<i32>(0);
    result.ips.push(ip);
  }
  result.routes = port.routes;
  return result;
}
