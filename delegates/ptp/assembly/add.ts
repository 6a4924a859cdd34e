// ADD: addresses first, then both ends of the veth in one call, then the rules.

import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import { apply, Link, LinkName, Operation, Place } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Attachment, Fault, NetworkInterface, Success } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { NO_ADDRESS } from "plexus/main-codes";
import { rulesOf } from "plexus/masquerades";
import { refuseWithoutFirewall } from "plexus/optional-firewall";
import { Some } from "plexus/some";
import { addDetail, addUndoFault } from "plexus/undo-faults";
import { Plan } from "./plan";
import { Settings } from "./settings";

/** Index of the pod's interface in the result's interfaces. */
const podIndex: i32 = 1;

/** Connects the pod with the node. After a fault earlier changes are undone. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = refuseWithoutFirewall(request.call, settings.ruleSetting);
  if (fault !== null) return SuccessOrFault.err(fault);
  const ipamAnswer = delegation.add(settings.ipam, null);
  if (!ipamAnswer.isOk) return ipamAnswer;
  const success = ipamAnswer.value;
  fault = attach(request, settings, success);
  if (fault === null) return SuccessOrFault.ok(success);
  addUndoFault(delegation.del(settings.ipam, null), fault, "its addresses were not released");
  return SuccessOrFault.err(fault);
}

/** Makes the links and the rules, and completes IPAM's result; null on success. */
function attach(request: AttachmentRequest, settings: Settings, success: Success): Fault | null {
  if (success.ips.length == 0) return ownFault(NO_ADDRESS, `IPAM plugin ${settings.ipam} returned missing IP config`);
  const plan = Plan.of(settings, request, success);
  if (plan.fault !== null) return plan.fault;
  const applied = apply(plan.operations);
  if (!applied.isOk) return applied.error;
  success.interfaces = interfacesOf(applied.value, request.attachment);
  for (let i = 0; i < success.ips.length; i++) success.ips[i].interface_ = new Some<i32>(podIndex);
  if (settings.dns !== null) success.dns = settings.dns;
  const fault: Fault | null = settings.ipMasq ? firewall.replace(rulesOf(success.ips)) : null;
  if (fault === null) return null;
  const undone = apply([Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname))]);
  if (!undone.isOk) addDetail(fault, "the interface was not removed", undone.error);
  return fault;
}

/** The node's end and the pod's end, with their MACs. */
function interfacesOf(links: Array<Link>, attachment: Attachment): Array<NetworkInterface> {
  const node = new NetworkInterface("");
  const pod = new NetworkInterface(attachment.ifname);
  pod.sandbox = attachment.netns;
  for (let i = 0; i < links.length; i++) {
    if (links[i].place == Place.Host) {
      node.name = links[i].name;
      node.mac = links[i].mac;
    } else if (links[i].name == pod.name) pod.mac = links[i].mac;
  }
  return [node, pod];
}
