// Tries every operation of the capability `links` on a link that is not granted.

import { Fault, Route } from "plexus/abi/types";
import {
  AddressChange,
  AddressWish,
  apply,
  Bond,
  BondMode,
  Bridge,
  Change,
  defaultLink,
  DeviceSelector,
  Dummy,
  Family,
  findDevice,
  InterfaceSetting,
  Ipvlan,
  IpvlanMode,
  LinkName,
  Macvlan,
  MacvlanMode,
  Neighbour,
  NeighbourChange,
  neighbours,
  Operation,
  Place,
  Port,
  PortChange,
  PortVlan,
  PortVlanChange,
  read,
  RouteChange,
  routes,
  Settling,
  Taking,
  Tap,
  Veth,
  VfLinkState,
  VfSettings,
  Vlan,
  VlanGateway,
  Vrf,
} from "plexus/abi/links";
import { Some } from "plexus/some";
import { Tries } from "./tries";

/** Tries a link of the node, or a name without a link. `ifname` is the attachment's interface, which the delegate may make. */
export function tryHostLink(tries: Tries, name: string, ifname: string, isThere: bool): void {
  const link = new LinkName(Place.Host, name);
  tryOne(tries, "add-macvlan", name, Operation.addMacvlan(new Macvlan(ifname, link, MacvlanMode.Passthru)));
  tryOne(tries, "add-ipvlan", name, Operation.addIpvlan(new Ipvlan(ifname, link, IpvlanMode.L3)));
  tryOne(tries, "add-vlan", name, Operation.addVlan(new Vlan(ifname, link, 5)));
  const ways = routes(link);
  tries.refused(`routes of ${name}`, name, ways.isOk ? null : ways.error);
  const known = neighbours(link);
  tries.refused(`neighbours of ${name}`, name, known.isOk ? null : known.error);
  tryParent(tries, name, ifname);
  const device = new DeviceSelector();
  device.name = name;
  tryOne(tries, "take-device", name, Operation.takeDevice(new Taking(device, ifname, true)));
  // Reading or deleting a missing link is not refused.
  if (!isThere) return;
  const found = findDevice(device);
  tries.refused(`find-device ${name}`, name, found.isOk ? null : found.error);
  const seen = read([link]);
  tries.refused(`read ${name}`, name, seen.isOk ? null : seen.error);
  tryOne(tries, "delete-link", name, Operation.deleteLink(link));
  // A refused operation also prevents the allowed operations before it.
  const before = [Operation.addVeth(new Veth(ifname, false, true)), Operation.deleteLink(link)];
  tries.refused(`add-veth, then delete-link ${name}`, name, faultOf(before));
}

/** Tries operations that even a granted parent does not allow. */
export function tryParent(tries: Tries, name: string, ifname: string): void {
  const link = new LinkName(Place.Host, name);
  const plain = new Bridge(name, false);
  tryOne(tries, "ensure-bridge", name, Operation.ensureBridge(plain));
  const filtering = new Bridge(name, true);
  filtering.mtu = new Some<u32>(1280);
  filtering.defaultPvid = new Some<u16>(0);
  tryOne(tries, "ensure-bridge with VLANs", name, Operation.ensureBridge(filtering));
  tryOne(tries, "ensure-vlan-gateway", name, Operation.ensureVlanGateway(new VlanGateway(name, 5, false)));
  const veth = new Veth(ifname, false, true);
  veth.master = name;
  tryOne(tries, "add-veth to it", name, Operation.addVeth(veth));
  const port = new Port();
  port.hairpin = new Some<bool>(true);
  port.isolated = new Some<bool>(true);
  tryOne(tries, "change-port", name, Operation.changePort(new PortChange(name, port)));
  const vlan = new PortVlan(7, 9, false, false);
  tryOne(tries, "add-port-vlan", name, Operation.addPortVlan(new PortVlanChange(name, vlan)));
  tryOne(tries, "delete-port-vlan", name, Operation.deletePortVlan(new PortVlanChange(name, vlan)));
  tryLink(tries, link);
}

/** Tries a link of the pod that is not the attachment's; `nodeLink` is a link of the node that could be a macvlan's parent. */
export function tryPodLink(tries: Tries, name: string, nodeLink: string): void {
  const link = new LinkName(Place.Pod, name);
  const parent = new LinkName(Place.Host, nodeLink);
  tryOne(tries, "add-dummy", name, Operation.addDummy(new Dummy(name)));
  tryOne(tries, "add-bond", name, Operation.addBond(new Bond(name, BondMode.ActiveBackup)));
  tryOne(tries, "give-back", name, Operation.giveBack(name));
  tryOne(tries, "add-vrf", name, Operation.addVrf(new Vrf(name, 10)));
  tryOne(tries, "add-tap", name, Operation.addTap(new Tap(name, false)));
  const labelled = new Tap(name, false);
  labelled.selinuxContext = "system_u:system_r:kernel_t";
  tryOne(tries, "add-tap in an SELinux context", "selinuxContexts", Operation.addTap(labelled));
  tryOne(tries, "add-veth", name, Operation.addVeth(new Veth(name, false, true)));
  tryOne(tries, "add-macvlan", name, Operation.addMacvlan(new Macvlan(name, parent, MacvlanMode.Bridge)));
  tryOne(tries, "add-ipvlan", name, Operation.addIpvlan(new Ipvlan(name, parent, IpvlanMode.L2)));
  tryOne(tries, "add-vlan", name, Operation.addVlan(new Vlan(name, parent, 5)));
  const seen = read([link]);
  tries.refused(`read ${name}`, name, seen.isOk ? null : seen.error);
  const known = neighbours(link);
  tries.refused(`neighbours of ${name}`, name, known.isOk ? null : known.error);
  tryLink(tries, link);
}

/** Tries operations that exist for links of the node and of the pod. */
function tryLink(tries: Tries, link: LinkName): void {
  const name = link.name;
  for (let which = 0; which < 7; which++) tryOne(tries, `change-link ${which}`, name, Operation.changeLink(change(link, which)));
  const renamed = link.place == Place.Pod ? name : "";
  tryOne(tries, "change-link, its names,", renamed, Operation.changeLink(change(link, 7)));
  const addresses = ["10.66.0.1/24", "fd66::1/64", "10.99.0.1/24"];
  for (let i = 0; i < addresses.length; i++) {
    const address = new AddressChange(link, addresses[i], true);
    tryOne(tries, "add-address", name, Operation.addAddress(address));
    tryOne(tries, "ensure-address", name, Operation.ensureAddress(new AddressWish(link, addresses[i], true)));
    tryOne(tries, "delete-address", name, Operation.deleteAddress(address));
  }
  const destinations = ["0.0.0.0/0", "::/0", "10.99.0.0/24"];
  for (let i = 0; i < destinations.length; i++) {
    const route = new RouteChange(link.place, new Route(destinations[i]), true);
    route.link = link;
    tryOne(tries, "add-route", name, Operation.addRoute(route));
    tryOne(tries, "delete-route", name, Operation.deleteRoute(route));
  }
  const neighbour = new Neighbour("10.99.0.2", false);
  neighbour.mac = "02:00:00:00:00:66";
  tryOne(tries, "add-neighbour", name, Operation.addNeighbour(new NeighbourChange(link, neighbour)));
  tryOne(tries, "delete-neighbour", name, Operation.deleteNeighbour(new NeighbourChange(link, neighbour)));
  const settings4 = ["forwarding", "rp_filter", "proxy_arp", "arp_notify"];
  for (let i = 0; i < settings4.length; i++) {
    tryOne(tries, settings4[i], name, Operation.setInterface(new InterfaceSetting(link, Family.Ipv4, settings4[i], "1", false)));
  }
  const settings6 = ["forwarding", "accept_ra", "disable_ipv6", "accept_dad"];
  for (let i = 0; i < settings6.length; i++) {
    tryOne(tries, settings6[i], name, Operation.setInterface(new InterfaceSetting(link, Family.Ipv6, settings6[i], "1", false)));
  }
  tryOne(tries, "settle", name, Operation.settle(new Settling(link, 1)));
}

function change(link: LinkName, which: i32): Change {
  const made = new Change(link);
  if (which == 0) made.up = new Some<bool>(false);
  if (which == 1) made.mac = "02:00:00:00:00:66";
  if (which == 2) made.mtu = new Some<u32>(1280);
  if (which == 3) made.promiscuous = new Some<bool>(true);
  if (which == 4) made.allMulticast = new Some<bool>(true);
  if (which == 5) made.txQueueLength = new Some<u32>(7);
  if (which == 6) made.master = "";
  if (which == 7) made.alternativeNames = ["intruder"];
  return made;
}

/** Tries invalid names, and settings whose path leads to another directory. */
export function tryOddities(tries: Tries, hostLink: string, ifname: string): void {
  const names = [
    "",
    ".",
    "..",
    "a/b",
    "../all",
    `${hostLink}\0`,
    "sixteen-letters-",
    "br%d",
    "é",
    ` ${hostLink}`,
    `${hostLink} `,
    `${hostLink}:1`,
  ];
  for (let i = 0; i < names.length; i++) {
    const link = new LinkName(Place.Host, names[i]);
    tryOne(tries, "ensure-bridge", "", Operation.ensureBridge(new Bridge(names[i], false)));
    // A longer name may be an alternative name, and the deletion of a missing link is not refused.
    if (names[i].length <= 15) tryOne(tries, "delete-link", "", Operation.deleteLink(link));
    tryOne(tries, "rp_filter", "", Operation.setInterface(new InterfaceSetting(link, Family.Ipv4, "rp_filter", "0", false)));
    tryOne(tries, "delete-link of the pod", "", Operation.deleteLink(new LinkName(Place.Pod, names[i])));
  }
  const all = ["all", "default"];
  const ownLink = new LinkName(Place.Pod, ifname);
  for (let i = 0; i < all.length; i++) {
    for (let place = 0; place < 2; place++) {
      const link = new LinkName(place == 0 ? Place.Host : Place.Pod, all[i]);
      tryOne(
        tries,
        "rp_filter",
        all[i],
        Operation.setInterface(new InterfaceSetting(link, Family.Ipv4, "rp_filter", "0", false)),
      );
    }
  }
  const settings = ["../all/rp_filter", "mc_forwarding", "", "rp_filter/../../ip_forward", "tag"];
  for (let i = 0; i < settings.length; i++) {
    tryOne(tries, "setting", "", Operation.setInterface(new InterfaceSetting(ownLink, Family.Ipv4, settings[i], "1", false)));
  }
  tryOne(tries, "enable-forwarding", "ipv4", Operation.enableForwarding(Family.Ipv4));
  tryOne(tries, "enable-forwarding", "ipv6", Operation.enableForwarding(Family.Ipv6));
  const route = new RouteChange(Place.Host, new Route("0.0.0.0/0"), true);
  route.route.gw = "10.99.0.7";
  tryOne(tries, "add-route without a link", "", Operation.addRoute(route));
  tryOne(tries, "delete-route without a link", "", Operation.deleteRoute(route));
  const way = defaultLink(Place.Host);
  tries.refused("default-link of the node", hostLink, way.isOk ? null : way.error);
  tryFunction(tries, "0000:ff:1f.7", "0000:ff:1f.7");
  tryFunction(tries, "../../net", "");
  const many = new Array<Operation>();
  for (let i = 0; i < 300; i++) many.push(Operation.settle(new Settling(ownLink, 0)));
  tries.refused("300 operations", "300", faultOf(many));
}

/** Tries every setting of a virtual function. `named`: what a refusal must name. */
function tryFunction(tries: Tries, pciAddress: string, named: string): void {
  for (let which = 0; which < 7; which++) {
    const vf = new VfSettings(pciAddress, false);
    if (which == 0) vf.mac = "02:00:00:00:00:66";
    if (which == 1) vf.vlan = new Some<u16>(7);
    if (which == 2) vf.vlan = new Some<u16>(0);
    if (which == 3) vf.trust = new Some<bool>(true);
    if (which == 4) vf.spoofCheck = new Some<bool>(false);
    if (which == 5) vf.maxRate = new Some<u32>(0);
    if (which == 6) vf.linkState = new Some<VfLinkState>(VfLinkState.Enable);
    tryOne(tries, `set-vf ${which}`, named, Operation.setVf(vf));
  }
}

function tryOne(tries: Tries, what: string, name: string, operation: Operation): void {
  tries.refused(`${what} ${name}`, name, faultOf([operation]));
}

function faultOf(operations: Array<Operation>): Fault | null {
  const answer = apply(operations);
  return answer.isOk ? null : answer.error;
}
