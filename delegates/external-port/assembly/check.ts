// CHECK: the link in the pod and the port in the fabric's switch still match the result of ADD.

import { Link, LinkName, Place, read, routes } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault, IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { invalidConfig } from "plexus/faults";
import { sameMac } from "plexus/mac";
import { missingAddress, missingRoute } from "plexus/pod-interface-check";
import { missingPort } from "./add";
import { differs } from "./codes";
import { switchDiffers } from "./open-vswitch";
import { Binding, Port } from "./port";
import { Settings } from "./settings";

/** Answers code 101 with the first difference from the result and the port. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return settings.fault;
  const port = settings.port;
  if (port === null) return missingPort();
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "is missing: CHECK needs the attachment's result");
  const ifname = request.attachment.ifname;
  const entry = entryOf(result, ifname, request.attachment.netns);
  if (entry < 0) return differs(`the result has no interface ${ifname} of this pod`);
  const found = read([new LinkName(Place.Pod, ifname)]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) return differs(`the pod has no interface ${ifname}`);
  const link = found.value[0];
  const wrong = linkDiffers(link, settings, port);
  if (wrong !== null) return wrong;
  const unplugged: Fault | null = port.binding == Binding.Ovs ? switchDiffers(request.call, settings, port, link) : null;
  if (unplugged !== null) return unplugged;

  const existing = routes(null);
  if (!existing.isOk) return existing.error;
  let why = missingAddress(ifname, ipsOf(result, entry), link.addresses, existing.value);
  if (why === null) why = missingRoute(result.routes, existing.value);
  return why === null ? null : differs(why);
}

/** The position of the pod's interface in the result; -1 if the result lacks it, or has it in another namespace. */
function entryOf(result: Success, ifname: string, netns: string | null): i32 {
  for (let i = result.interfaces.length - 1; i >= 0; i--) {
    const each: NetworkInterface = result.interfaces[i];
    if (each.name == ifname && each.sandbox !== null && each.sandbox == netns) return i;
  }
  return -1;
}

/** The result's addresses of this interface. */
function ipsOf(result: Success, entry: i32): Array<IpConfig> {
  const found: Array<IpConfig> = [];
  for (let i = 0; i < result.ips.length; i++) {
    const at = result.ips[i].interface_;
    if (at === null || at.value < 0 || at.value == entry) found.push(result.ips[i]);
  }
  return found;
}

function linkDiffers(link: Link, settings: Settings, port: Port): Fault | null {
  const kind = settings.kindOf(port);
  if (link.kind != kind)
    return differs(`the pod's ${link.name} is not a ${kind} but ${link.kind == "" ? "a device" : `a ${link.kind}`}`);
  const vlan = link.vlanId;
  if (port.binding == Binding.Vlan && (vlan === null || vlan.value != port.vlan))
    return differs(
      `the pod's ${link.name} has VLAN ${vlan === null ? "none" : vlan.value.toString()}, and the fabric's port ${port.vlan}`,
    );
  const mac = link.mac;
  // An ipvlan has its parent's MAC.
  if (kind != "ipvlan" && (mac === null || !sameMac(mac, port.mac)))
    return differs(`the pod's ${link.name} has MAC ${mac === null ? "none" : mac}, and the fabric's port ${port.mac}`);
  const mtu = port.mtu;
  if (mtu !== null && link.mtu != mtu.value)
    return differs(`the pod's ${link.name} has MTU ${link.mtu}, and the fabric's port ${mtu.value}`);
  return null;
}
