// CHECK: the bridge, the veth, the addresses, the routes and the rules match the attachment's result.

import { AttachmentRequest } from "plexus/abi/plugin";
import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import * as links from "plexus/abi/links";
import { Link, LinkName, Place } from "plexus/abi/links";
import { Fault, IpConfig, NetworkInterface, Route, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { invalidConfig } from "plexus/faults";
import { sameMac } from "plexus/mac";
import { isInTable } from "plexus/pod-interface-check";
import { Some } from "plexus/some";
import { portDiffers } from "./check-port";
import { differs } from "./faults";
import { refuseWithoutFirewall } from "./grants";
import { rulesOf } from "plexus/masquerades";
import { checkNatively } from "./native";
import { Settings } from "./settings";

/** Answers the first difference from the result: code 101, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return settings.fault;
  if (settings.native) return checkNatively(request, settings);
  const ungranted = refuseWithoutFirewall(request, settings);
  if (ungranted !== null) return ungranted;
  if (settings.isLayer3) {
    const failed = delegation.check(settings.ipam, null);
    if (failed !== null) return failed;
  }
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "is missing: CHECK needs the attachment's result");
  const failed = checkLinks(request, settings, result);
  if (failed !== null || !settings.ipMasq || !settings.isLayer3) return failed;
  const inForce = firewall.check(rulesOf(addressesOfPod(result, request)));
  if (!inForce.isOk) return inForce.error;
  return inForce.value ? null : differs("the rules that masquerade the pod's addresses are not in force");
}

function checkLinks(request: AttachmentRequest, settings: Settings, result: Success): Fault | null {
  const ifname = request.attachment.ifname;
  if (find(result, settings.bridge, null) === null) return differs(`the result has no interface ${settings.bridge} of the node`);
  const podEntry = find(result, ifname, request.attachment.netns);
  if (podEntry === null) return differs(`the result has no interface ${ifname} of this pod`);
  const names: Array<LinkName> = [new LinkName(Place.Host, settings.bridge), new LinkName(Place.Pod, ifname)];
  const read = links.read(names);
  if (!read.isOk) return read.error;
  const bridge = findLink(read.value, names[0]);
  const pod = findLink(read.value, names[1]);
  let wrong = checkBridge(bridge, settings);
  if (wrong !== null) return wrong;
  if (pod === null) return differs(`the pod has no interface ${ifname}`);
  if (pod.kind != "veth") return differs(`the pod's ${ifname} is not a veth but ${kindOf(pod)}`);
  wrong = checkMac(pod, podEntry);
  if (wrong !== null) return wrong;
  wrong = checkPort(pod, result, settings);
  if (wrong !== null) return wrong;
  return checkAddresses(pod, request, result);
}

/** Not its MAC: a bridge that others made takes the lowest MAC of its ports, and changes with them. */
function checkBridge(bridge: Link | null, settings: Settings): Fault | null {
  if (bridge === null) return differs(`the node has no bridge ${settings.bridge}`);
  if (bridge.kind != "bridge") return differs(`${settings.bridge} is not a bridge but ${kindOf(bridge)}`);
  if (bridge.promiscuous == settings.promiscuous) return null;
  const now = bridge.promiscuous ? "is" : "is not";
  return differs(`the bridge ${settings.bridge} ${now} promiscuous, but promiscMode is ${settings.promiscuous.toString()}`);
}

/** Checks the node's end of the pod's veth, which must be a port of the bridge. */
function checkPort(pod: Link, result: Success, settings: Settings): Fault | null {
  const peer = pod.peer;
  if (peer === null) return differs(`the other end of the pod's ${pod.name} is not on the node`);
  const name = new LinkName(Place.Host, peer);
  const read = links.read([name]);
  if (!read.isOk) return read.error;
  const port = findLink(read.value, name);
  if (port === null) return differs(`the node has no link ${peer}, the other end of the pod's ${pod.name}`);
  const master = port.master;
  if (master === null || master != settings.bridge)
    return differs(`${peer}, the node's end of the pod's ${pod.name}, is not a port of the bridge ${settings.bridge}`);
  const entry = find(result, peer, null);
  if (entry === null) return differs(`the result has no interface ${peer} of the node, the other end of the pod's ${pod.name}`);
  let wrong = checkMac(port, entry);
  if (wrong === null) wrong = portDiffers(port, settings);
  if (wrong !== null || !settings.macSpoofCheck) return wrong;
  const mac = pod.mac;
  const guarded = firewall.framesGuarded(peer, mac !== null ? mac : "");
  if (!guarded.isOk) return guarded.error;
  return guarded.value ? null : differs(`the rules that keep the pod to its MAC are not in force for ${peer}`);
}

function checkAddresses(pod: Link, request: AttachmentRequest, result: Success): Fault | null {
  const expected = addressesOfPod(result, request);
  for (let i = 0; i < expected.length; i++) {
    if (!hasAddress(pod, expected[i].address)) return differs(`the pod's ${pod.name} has no address ${expected[i].address}`);
  }
  if (expected.length == 0 && result.routes.length == 0) return null;
  const routes = links.routes(null);
  if (!routes.isOk) return routes.error;
  for (let i = 0; i < expected.length; i++) {
    const address = Cidr.parse(expected[i].address) as Cidr;
    // The kernel adds no route for a network of one address.
    if (address.prefix < address.ip.bits && !leadsTo(routes.value, address.masked(), null, null))
      return differs(`the pod has no route to ${address.masked().toString()}, the network of its address`);
  }
  for (let i = 0; i < result.routes.length; i++) {
    const route = result.routes[i];
    const dst = Cidr.parse(route.dst);
    if (dst === null) return differs(`the result has a route to ${route.dst}, which is not a network in CIDR notation`);
    // Like the reference plugin: a default route may have another gateway by now.
    const gw: string | null = dst.prefix == 0 ? (null as string | null) : route.gw;
    if (!leadsTo(routes.value, dst.masked(), gw, route.table))
      return differs(`the pod has no route to ${route.dst}${gw === null ? "" : ` via ${gw}`}`);
  }
  return null;
}

/** The result's addresses of the pod's interface. Other plugins own the addresses of other interfaces. */
function addressesOfPod(result: Success, request: AttachmentRequest): Array<IpConfig> {
  const podAddresses = new Array<IpConfig>();
  for (let i = 0; i < result.ips.length; i++) {
    const at = result.ips[i].interface_;
    if (Cidr.parse(result.ips[i].address) === null) continue;
    if (at === null || at.value < 0 || at.value >= result.interfaces.length) podAddresses.push(result.ips[i]);
    else if (
      isIn(result.interfaces[at.value], request.attachment.netns) &&
      result.interfaces[at.value].name == request.attachment.ifname
    )
      podAddresses.push(result.ips[i]);
  }
  return podAddresses;
}

/** The result's interface with this name in this network namespace; `sandbox` null: the node. */
function find(result: Success, name: string, sandbox: string | null): NetworkInterface | null {
  for (let i = 0; i < result.interfaces.length; i++) {
    if (result.interfaces[i].name == name && isIn(result.interfaces[i], sandbox)) return result.interfaces[i];
  }
  return null;
}

function isIn(entry: NetworkInterface, sandbox: string | null): bool {
  const found = entry.sandbox;
  if (found === null || found == "") return sandbox === null;
  return sandbox !== null && found == sandbox;
}

function findLink(all: Array<Link>, name: LinkName): Link | null {
  for (let i = 0; i < all.length; i++) if (all[i].place == name.place && all[i].name == name.name) return all[i];
  return null;
}

/** The link must have the result's MAC. */
function checkMac(link: Link, entry: NetworkInterface): Fault | null {
  const expected = entry.mac;
  if (expected === null || expected == "") return null;
  const mac = link.mac;
  if (mac !== null && sameMac(mac, expected)) return null;
  return differs(`${link.name} has ${mac === null ? "no MAC" : `the MAC ${mac}`}, but the result has ${expected}`);
}

function hasAddress(link: Link, address: string): bool {
  const wanted = Cidr.parse(address) as Cidr;
  for (let i = 0; i < link.addresses.length; i++) {
    const each = Cidr.parse(link.addresses[i].address);
    if (each !== null && each.prefix == wanted.prefix && each.ip.equals(wanted.ip)) return true;
  }
  return false;
}

/** `table`: null: any, because a plugin such as vrf may have moved the route. */
function leadsTo<R>(routes: Array<R>, dst: Cidr, gw: string | null, table: Some<u32> | null): bool {
  for (let i = 0; i < routes.length; i++) {
    const each = Cidr.parse(routes[i].dst);
    if (each === null || !each.sameNetwork(dst) || each.ip.family != dst.ip.family) continue;
    if (!isInTable(table, routes[i].table)) continue;
    if (gw === null) return true;
    const via = routes[i].gw;
    if (via !== null && via == gw) return true;
  }
  return false;
}

function kindOf(link: Link): string {
  return link.kind == "" ? "a device" : `a ${link.kind}`;
}
