// ADD: IPAM first, then the firewall rules, then all links in one call. That call undoes itself if it fails, so only addresses
// and rules need an explicit undo.

import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import * as delegation from "plexus/abi/delegation";
import * as links from "plexus/abi/links";
import { LinkName, Operation, Place } from "plexus/abi/links";
import * as firewall from "plexus/abi/firewall";
import { Attachment, Fault, NetworkInterface, Success } from "plexus/abi/types";
import { ConflictDetection, refuseUnprobed } from "plexus/conflict-detection";
import { needsInterface } from "plexus/ipam";
import { Some } from "plexus/some";
import { readSetDns } from "plexus/network-dns";
import { unusableIpamResult } from "./faults";
import { Gateways, nodeEndIndex, podInterfaceIndex } from "./gateways";
import { refuseWithoutFirewall } from "./grants";
import { rulesOf } from "plexus/masquerades";
import { addNatively } from "./native";
import { Plan } from "./plan";
import { Settings } from "./settings";
import { addDetail, addUndoFault } from "plexus/undo-faults";

/** Makes the links and rules of the attachment. After a fault earlier changes are undone. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  if (settings.native) return addNatively(request, settings);
  const ungranted = refuseWithoutFirewall(request, settings);
  if (ungranted !== null) return SuccessOrFault.err(ungranted);
  const detection = settings.conflictDetection;
  const refused = refuseUnprobed(detection, request.call);
  if (refused !== null) return SuccessOrFault.err(refused);
  let port = new Array<links.Link>();
  const linkFirst = detection !== null || needsInterface(settings.ipam);
  if (linkFirst) {
    const made = links.apply(Plan.ofPort(settings, request).operations);
    if (!made.isOk) return SuccessOrFault.err(made.error);
    port = made.value;
  }
  let failed: Fault | null = null;
  let ipamResult = new Success();
  if (settings.isLayer3) {
    let answer = delegation.add(settings.ipam, null);
    if (!answer.isOk) {
      if (linkFirst) removeLink(request, answer.error);
      return answer;
    }
    if (detection !== null) answer = probe(detection, settings, answer.value);
    if (answer.isOk) ipamResult = answer.value;
    else failed = answer.error;
  }
  const success = resultOf(ipamResult, settings);
  if (failed === null) failed = attach(request, settings, success, port);
  if (failed === null) return SuccessOrFault.ok(success);
  // IPAM comes first: it may need the link.
  if (settings.isLayer3) addUndoFault(delegation.del(settings.ipam, null), failed, "its addresses were not released");
  if (linkFirst) removeLink(request, failed);
  return SuccessOrFault.err(failed);
}

/** IPAM's result whose addresses no neighbour has. A bridge that is the gateway need not ask for it: it may not have that address yet. */
function probe(detection: ConflictDetection, settings: Settings, first: Success): SuccessOrFault {
  const asked = settings.isGateway ? detection.withoutGateway() : detection;
  return asked.settle(settings.ipam, first);
}

function removeLink(request: AttachmentRequest, failed: Fault): void {
  const undone = links.apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  if (!undone.isOk) addDetail(failed, "the interface was not removed", undone.error);
}

/** IPAM's result without its interfaces: the result lists only the interfaces made here. */
function resultOf(ipamResult: Success, settings: Settings): Success {
  const success = new Success();
  success.ips = ipamResult.ips;
  success.routes = ipamResult.routes;
  const dns = readSetDns(settings.config);
  success.dns = dns !== null ? dns : ipamResult.dns;
  for (let i = 0; i < success.ips.length; i++) success.ips[i].interface_ = new Some<i32>(podInterfaceIndex);
  return success;
}

/** Creates the links and the rules; null on success. `port`: the links that exist already, if IPAM or its check needs them. */
function attach(request: AttachmentRequest, settings: Settings, success: Success, port: Array<links.Link>): Fault | null {
  const attachment = request.attachment;
  if (settings.isLayer3 && success.ips.length == 0) return unusableIpamResult(settings, "it has no addresses");
  const gateways = Gateways.complete(success, settings);
  if (gateways.fault !== null) return gateways.fault;
  const hasPort = port.length > 0;
  const plan = Plan.of(settings, request, success, gateways, hasPort);
  if (plan.fault !== null) return plan.fault;
  const masquerades = settings.ipMasq && settings.isLayer3;
  if (masquerades) {
    const refused = firewall.replace(rulesOf(success.ips));
    if (refused !== null) return refused;
  }
  const applied = links.apply(plan.operations);
  let failed: Fault | null = null;
  if (applied.isOk) {
    success.interfaces = interfacesOf(port.concat(applied.value), attachment, settings, plan);
    failed = settings.macSpoofCheck ? guardFrames(success) : null;
    const detection = settings.conflictDetection;
    if (failed === null && detection !== null) failed = detection.announce(success.ips);
    if (failed === null) return null;
    if (!hasPort) removeLink(request, failed);
  } else failed = applied.error;
  if (masquerades) addUndoFault(firewall.remove(), failed, "its rules were not removed");
  return failed;
}

/** macspoofchk: only frames with the pod interface's current MAC may leave the pod. */
function guardFrames(success: Success): Fault | null {
  const mac = success.interfaces[podInterfaceIndex].mac;
  return firewall.guardFrames(success.interfaces[nodeEndIndex].name, mac !== null ? mac : "");
}

/** The bridge, the node's end, the pod's end, and the node's interface in the VLAN, with their current MACs. */
function interfacesOf(made: Array<links.Link>, attachment: Attachment, settings: Settings, plan: Plan): Array<NetworkInterface> {
  const bridge = new NetworkInterface(settings.bridge);
  const host = new NetworkInterface("");
  const pod = new NetworkInterface(attachment.ifname);
  pod.sandbox = attachment.netns;
  const gateway = new NetworkInterface(plan.vlanGateway);
  for (let i = 0; i < made.length; i++) {
    const link = made[i];
    if (link.place == Place.Pod && link.name == pod.name) pod.mac = link.mac;
    else if (link.place == Place.Pod) continue;
    else if (link.name == bridge.name) bridge.mac = link.mac;
    else if (link.name == gateway.name) gateway.mac = link.mac;
    else if (isEndOf(link, pod.name)) {
      host.name = link.name;
      host.mac = link.mac;
    }
  }
  return gateway.name == "" ? [bridge, host, pod] : [bridge, host, pod, gateway];
}

function isEndOf(link: links.Link, name: string): bool {
  const peer = link.peer;
  return peer !== null && peer == name;
}
