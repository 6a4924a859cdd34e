// ADD: the veth and its port first, so that the switch forwards the announcement of the addresses, then IPAM and the addresses.

import * as log from "plexus/abi/log";
import { apply, Link, LinkName, Operation, Place, Veth } from "plexus/abi/links";
import * as ovs from "plexus/abi/ovs";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, NetworkInterface, Success } from "plexus/abi/types";
import { MainInterface } from "plexus/main-interface";
import { Some } from "plexus/some";
import { addDetail, addUndoFault } from "plexus/undo-faults";
import { waitWithin } from "plexus/waits";
import { Settings } from "./settings";

/** Index of the pod's interface in the result's interfaces. */
const podIndex: i32 = 1;

/** Makes the veth and its port, with IPAM's addresses if `ipam` is set. After a fault nothing of it is left. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const veth = new Veth(request.attachment.ifname, false, false);
  veth.mac = settings.mac;
  if (settings.mtu != 0) veth.mtu = new Some<u32>(settings.mtu);
  const made = apply([Operation.addVeth(veth)]);
  if (!made.isOk) return SuccessOrFault.err(made.error);
  const pod = endAt(made.value, Place.Pod);
  const node = endAt(made.value, Place.Host);
  const unplugged = plug(request, settings, pod, node.name);
  const answer = unplugged === null ? configured(request, settings) : SuccessOrFault.err(unplugged);
  if (!answer.isOk) {
    // The first fault is reported. What fails here, the runtime's DEL undoes.
    const removed = ovs.removePorts();
    if (!removed.isOk) addDetail(answer.error, "the port was not removed", removed.error);
    const undone = apply([Operation.deleteLink(new LinkName(Place.Pod, pod.name))]);
    addUndoFault(undone.isOk ? null : undone.error, answer.error, "the interface was not removed");
    return answer;
  }
  return SuccessOrFault.ok(withNode(answer.value, node));
}

/** Makes the node's end a port of the bridge, and waits until ovs-vswitchd has taken it. */
function plug(request: AttachmentRequest, settings: Settings, pod: Link, node: string): Fault | null {
  const mac = pod.mac;
  const port = new ovs.NewPort(settings.bridge, node, settings.ovnPort, mac === null ? "" : mac);
  port.tag = settings.vlans.tag;
  port.trunks = settings.vlans.trunks;
  port.number = settings.number;
  const refused = ovs.addPort(port);
  if (refused !== null) return refused;
  const settled = ovs.settle(node, waitWithin(request.call.remainingMs, settings.waitMs));
  if (!settled.isOk) return settled.error;
  const number = settled.value.number;
  const wanted = settings.number;
  if (wanted !== null && number !== null && number.value != wanted.value)
    log.write(log.Level.Warn, `ofport_request: another port has the number ${wanted.value}; Open vSwitch gave ${number.value}`);
  return null;
}

/** Brings the pod's end up, with IPAM's addresses and routes. After a fault the addresses are released. */
function configured(request: AttachmentRequest, settings: Settings): SuccessOrFault {
  const made = new MainInterface(request);
  made.ipam = settings.ipam;
  made.notifiesIpv4 = true;
  made.notifiesIpv6 = true;
  made.keepsIpamDns = true;
  return made.add();
}

/** The result with the node's end before the pod's, as ovs-cni has it. */
function withNode(result: Success, link: Link): Success {
  const node = new NetworkInterface(link.name);
  node.mac = link.mac;
  result.interfaces.unshift(node);
  for (let i = 0; i < result.ips.length; i++) result.ips[i].interface_ = new Some<i32>(podIndex);
  return result;
}

function endAt(links: Array<Link>, place: Place): Link {
  for (let i = 0; i < links.length; i++) if (links[i].place == place) return links[i];
  throw new Error("links made a veth without one of its ends");
}
