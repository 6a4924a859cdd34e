// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `links`: network links of the node and of the pod, with their addresses, routes and neighbours. The pod's side is the
// network namespace of the call's attachment, and in it the link of the attachment's name and `lo`. Further links of the attachment must be granted.
// The node's side is the links that the administrator's grant names (bridges with the gateways of their VLANs, parents, uplinks), and the host's
// ends of the attachment's own links. All other links are refused by name, before the first operation.

import * as _calls from "./calls";
import { Some } from "plexus/some";
import { LinkListOrFault, NeighbourListOrFault, OptionalTextOrFault, RouteListOrFault } from "./compounds";
import { Route as types_Route } from "./types";
export { Fault } from "./types";
export { Route } from "./types";
export { LinkListOrFault, NeighbourListOrFault, OptionalTextOrFault, RouteListOrFault } from "./compounds";

/** The network namespace of a link: the node's or the pod's. */
export enum Place {
  Host = 0,
  Pod = 1,
}

export class LinkName {
  place: Place;
  name: string;

  constructor(place: Place, name: string) {
    this.place = place;
    this.name = name;
  }
}

export class Bridge {
  name: string;
  mtu: Some<u32> | null = null;
  /** True: VLAN filtering is switched on, also on an existing bridge. */
  vlanFiltering: bool;
  /** Default PVID of the bridge's ports. None: the kernel's default (1) stays. 0: no default PVID. */
  defaultPvid: Some<u16> | null = null;

  constructor(name: string, vlanFiltering: bool) {
    this.name = name;
    this.vlanFiltering = vlanFiltering;
  }
}

/** The node's own access to one VLAN of a bridge: a veth `<bridge>.<id>` on the node whose other end is a port of the bridge in this VLAN, untagged. */
export class VlanGateway {
  bridge: string;
  id: u16;
  mtu: Some<u32> | null = null;
  /** True: the port also keeps the bridge's default PVID. */
  keepDefaultVlan: bool;

  constructor(bridge: string, id: u16, keepDefaultVlan: bool) {
    this.bridge = bridge;
    this.id = id;
    this.keepDefaultVlan = keepDefaultVlan;
  }
}

/** A bridge port's treatment of frames. An absent member stays unchanged. */
export class Port {
  hairpin: Some<bool> | null = null;
  isolated: Some<bool> | null = null;
  learning: Some<bool> | null = null;
  flood: Some<bool> | null = null;
}

/** VLANs `first` to `last`, both included, of a bridge's port or, for the bridge's own name, of the bridge itself. */
export class PortVlan {
  first: u16;
  last: u16;
  pvid: bool;
  untagged: bool;

  constructor(first: u16, last: u16, pvid: bool, untagged: bool) {
    this.first = first;
    this.last = last;
    this.pvid = pvid;
    this.untagged = untagged;
  }
}

/** A pair of links, one in the pod and one on the node. The node's end accepts no router advertisements. */
export class Veth {
  /** The pod's end. */
  name: string;
  /** Absent: the host chooses a name. */
  hostName: string | null = null;
  mac: string | null = null;
  hostMac: string | null = null;
  mtu: Some<u32> | null = null;
  /** The bridge whose port the node's end becomes. */
  master: string | null = null;
  port: Port | null = null;
  /** The VLANs of the port. The port loses the bridge's default PVID unless `keep-default-vlan` is set. */
  vlans: Array<PortVlan> = new Array<PortVlan>();
  keepDefaultVlan: bool;
  /** True: the pod's end is brought up. The node's end is always brought up. */
  up: bool;

  constructor(name: string, keepDefaultVlan: bool, up: bool) {
    this.name = name;
    this.keepDefaultVlan = keepDefaultVlan;
    this.up = up;
  }
}

export enum MacvlanMode {
  Bridge = 0,
  Private = 1,
  Vepa = 2,
  Passthru = 3,
}

export class Macvlan {
  name: string;
  /** A link of the node, or of the pod. */
  parent: LinkName;
  mode: MacvlanMode;
  mac: string | null = null;
  mtu: Some<u32> | null = null;
  /** Length of the queue of broadcast frames to be copied. */
  broadcastQueue: Some<u32> | null = null;

  constructor(name: string, parent: LinkName, mode: MacvlanMode) {
    this.name = name;
    this.parent = parent;
    this.mode = mode;
  }
}

export enum IpvlanMode {
  L2 = 0,
  L3 = 1,
  L3s = 2,
}

export class Ipvlan {
  name: string;
  parent: LinkName;
  mode: IpvlanMode;
  mtu: Some<u32> | null = null;

  constructor(name: string, parent: LinkName, mode: IpvlanMode) {
    this.name = name;
    this.parent = parent;
    this.mode = mode;
  }
}

export class Vlan {
  name: string;
  parent: LinkName;
  id: u16;
  mtu: Some<u32> | null = null;

  constructor(name: string, parent: LinkName, id: u16) {
    this.name = name;
    this.parent = parent;
    this.id = id;
  }
}

export class Dummy {
  name: string;
  mac: string | null = null;
  mtu: Some<u32> | null = null;

  constructor(name: string) {
    this.name = name;
  }
}

export class Vrf {
  name: string;
  table: u32;

  constructor(name: string, table: u32) {
    this.name = name;
    this.table = table;
  }
}

export class Tap {
  name: string;
  mac: string | null = null;
  mtu: Some<u32> | null = null;
  multiQueue: bool;
  owner: Some<u32> | null = null;
  group: Some<u32> | null = null;

  constructor(name: string, multiQueue: bool) {
    this.name = name;
    this.multiQueue = multiQueue;
  }
}

/** A change of a link. An absent member stays unchanged. */
export class Change {
  link: LinkName;
  up: Some<bool> | null = null;
  mac: string | null = null;
  mtu: Some<u32> | null = null;
  promiscuous: Some<bool> | null = null;
  allMulticast: Some<bool> | null = null;
  txQueueLength: Some<u32> | null = null;
  /** Name of a bridge or a VRF on the same side. Empty: the link leaves its master. */
  master: string | null = null;
  /** Alternative names that the link gets. */
  alternativeNames: Array<string> = new Array<string>();

  constructor(link: LinkName) {
    this.link = link;
  }
}

export class PortChange {
  /** A port, on the node. */
  link: string;
  port: Port;

  constructor(link: string, port: Port) {
    this.link = link;
    this.port = port;
  }
}

export class PortVlanChange {
  /** A port or a bridge, on the node. */
  link: string;
  vlan: PortVlan;

  constructor(link: string, vlan: PortVlan) {
    this.link = link;
    this.vlan = vlan;
  }
}

export class AddressChange {
  link: LinkName;
  /** With its prefix length. */
  address: string;
  /** IPv6: the address is used at once, without duplicate address detection (DAD). */
  noDad: bool;

  constructor(link: LinkName, address: string, noDad: bool) {
    this.link = link;
    this.address = address;
    this.noDad = noDad;
  }
}

export class AddressWish {
  link: LinkName;
  address: string;
  /**
   * True: conflicting addresses are removed. False: a conflicting address is a fault. In IPv4 all other addresses of the link conflict, in IPv6
   * those with an overlapping network.
   */
  replace: bool;

  constructor(link: LinkName, address: string, replace: bool) {
    this.link = link;
    this.address = address;
    this.replace = replace;
  }
}

export class RouteChange {
  /** Absent: the link by which the gateway is reached. */
  link: LinkName | null = null;
  /** The route's network namespace, if `link` is absent. */
  place: Place;
  route: types_Route;
  /** True: the gateway is reachable on the link although no network of the link contains it. */
  onLink: bool;
  /** Preferred source address. */
  source: string | null = null;

  constructor(place: Place, route: types_Route, onLink: bool) {
    this.place = place;
    this.route = route;
    this.onLink = onLink;
  }
}

export class Neighbour {
  address: string;
  mac: string | null = null;
  /** IPv6 router flag and permanence are the kernel's: an entry that is added is permanent. */
  proxy: bool;

  constructor(address: string, proxy: bool) {
    this.address = address;
    this.proxy = proxy;
  }
}

export class NeighbourChange {
  link: LinkName;
  neighbour: Neighbour;

  constructor(link: LinkName, neighbour: Neighbour) {
    this.link = link;
    this.neighbour = neighbour;
  }
}

export enum Family {
  Ipv4 = 0,
  Ipv6 = 1,
}

/**
 * A sysctl of one interface: `net.<family>.conf.<link>.<name>`. The names are: arp_notify, arp_accept, arp_ignore,
 * arp_announce, proxy_arp, rp_filter, ndisc_notify, accept_dad, dad_transmits, enhanced_dad, accept_ra, autoconf, disable_ipv6, keep_addr_on_down,
 * use_tempaddr, forwarding.
 */
export class InterfaceSetting {
  link: LinkName;
  family: Family;
  name: string;
  value: string;
  /** False: if the kernel lacks the sysctl (a kernel without IPv6), the operation does nothing and succeeds. */
  required: bool;

  constructor(link: LinkName, family: Family, name: string, value: string, required: bool) {
    this.link = link;
    this.family = family;
    this.name = name;
    this.value = value;
    this.required = required;
  }
}

export class Settling {
  link: LinkName;
  /** Longest wait in milliseconds until the link is running (a veth: both ends) and none of its addresses is tentative. */
  milliseconds: u32;

  constructor(link: LinkName, milliseconds: u32) {
    this.link = link;
    this.milliseconds = milliseconds;
  }
}

/** An operation of `apply`. The host runs operations in order, in as few messages as the kernel allows. */
export class Operation {
  /** The case, counted from 0 in the order of the WIT. */
  readonly kind: i32;
  private _0: Bridge | null = null;
  private _1: VlanGateway | null = null;
  private _2: Veth | null = null;
  private _3: Macvlan | null = null;
  private _4: Ipvlan | null = null;
  private _5: Vlan | null = null;
  private _6: Dummy | null = null;
  private _7: Vrf | null = null;
  private _8: Tap | null = null;
  private _9: LinkName | null = null;
  private _10: Change | null = null;
  private _11: PortChange | null = null;
  private _12: PortVlanChange | null = null;
  private _13: PortVlanChange | null = null;
  private _14: AddressChange | null = null;
  private _15: AddressWish | null = null;
  private _16: AddressChange | null = null;
  private _17: RouteChange | null = null;
  private _18: RouteChange | null = null;
  private _19: NeighbourChange | null = null;
  private _20: NeighbourChange | null = null;
  private _21: InterfaceSetting | null = null;
  private _22: Family = 0;
  private _23: Settling | null = null;

  private constructor(kind: i32) {
    this.kind = kind;
  }

  /**
   * Makes the bridge if there is none, brings it up, and lets it accept no router advertisements. A new bridge keeps its MAC whatever ports it
   * gets. Another kind of link with this name is a fault.
   */
  static ensureBridge(value: Bridge): Operation {
    const made = new Operation(0);
    made._0 = value;
    return made;
  }
  get isEnsureBridge(): bool {
    return this.kind == 0;
  }
  get asEnsureBridge(): Bridge {
    assert(this.kind == 0, "the variant is not ensure-bridge");
    return this._0 as Bridge;
  }

  /** Makes the gateway if there is none, and brings it up. The bridge must exist. */
  static ensureVlanGateway(value: VlanGateway): Operation {
    const made = new Operation(1);
    made._1 = value;
    return made;
  }
  get isEnsureVlanGateway(): bool {
    return this.kind == 1;
  }
  get asEnsureVlanGateway(): VlanGateway {
    assert(this.kind == 1, "the variant is not ensure-vlan-gateway");
    return this._1 as VlanGateway;
  }

  static addVeth(value: Veth): Operation {
    const made = new Operation(2);
    made._2 = value;
    return made;
  }
  get isAddVeth(): bool {
    return this.kind == 2;
  }
  get asAddVeth(): Veth {
    assert(this.kind == 2, "the variant is not add-veth");
    return this._2 as Veth;
  }

  static addMacvlan(value: Macvlan): Operation {
    const made = new Operation(3);
    made._3 = value;
    return made;
  }
  get isAddMacvlan(): bool {
    return this.kind == 3;
  }
  get asAddMacvlan(): Macvlan {
    assert(this.kind == 3, "the variant is not add-macvlan");
    return this._3 as Macvlan;
  }

  static addIpvlan(value: Ipvlan): Operation {
    const made = new Operation(4);
    made._4 = value;
    return made;
  }
  get isAddIpvlan(): bool {
    return this.kind == 4;
  }
  get asAddIpvlan(): Ipvlan {
    assert(this.kind == 4, "the variant is not add-ipvlan");
    return this._4 as Ipvlan;
  }

  static addVlan(value: Vlan): Operation {
    const made = new Operation(5);
    made._5 = value;
    return made;
  }
  get isAddVlan(): bool {
    return this.kind == 5;
  }
  get asAddVlan(): Vlan {
    assert(this.kind == 5, "the variant is not add-vlan");
    return this._5 as Vlan;
  }

  static addDummy(value: Dummy): Operation {
    const made = new Operation(6);
    made._6 = value;
    return made;
  }
  get isAddDummy(): bool {
    return this.kind == 6;
  }
  get asAddDummy(): Dummy {
    assert(this.kind == 6, "the variant is not add-dummy");
    return this._6 as Dummy;
  }

  static addVrf(value: Vrf): Operation {
    const made = new Operation(7);
    made._7 = value;
    return made;
  }
  get isAddVrf(): bool {
    return this.kind == 7;
  }
  get asAddVrf(): Vrf {
    assert(this.kind == 7, "the variant is not add-vrf");
    return this._7 as Vrf;
  }

  static addTap(value: Tap): Operation {
    const made = new Operation(8);
    made._8 = value;
    return made;
  }
  get isAddTap(): bool {
    return this.kind == 8;
  }
  get asAddTap(): Tap {
    assert(this.kind == 8, "the variant is not add-tap");
    return this._8 as Tap;
  }

  /** Succeeds also if there is no such link or its namespace is gone. */
  static deleteLink(value: LinkName): Operation {
    const made = new Operation(9);
    made._9 = value;
    return made;
  }
  get isDeleteLink(): bool {
    return this.kind == 9;
  }
  get asDeleteLink(): LinkName {
    assert(this.kind == 9, "the variant is not delete-link");
    return this._9 as LinkName;
  }

  static changeLink(value: Change): Operation {
    const made = new Operation(10);
    made._10 = value;
    return made;
  }
  get isChangeLink(): bool {
    return this.kind == 10;
  }
  get asChangeLink(): Change {
    assert(this.kind == 10, "the variant is not change-link");
    return this._10 as Change;
  }

  static changePort(value: PortChange): Operation {
    const made = new Operation(11);
    made._11 = value;
    return made;
  }
  get isChangePort(): bool {
    return this.kind == 11;
  }
  get asChangePort(): PortChange {
    assert(this.kind == 11, "the variant is not change-port");
    return this._11 as PortChange;
  }

  static addPortVlan(value: PortVlanChange): Operation {
    const made = new Operation(12);
    made._12 = value;
    return made;
  }
  get isAddPortVlan(): bool {
    return this.kind == 12;
  }
  get asAddPortVlan(): PortVlanChange {
    assert(this.kind == 12, "the variant is not add-port-vlan");
    return this._12 as PortVlanChange;
  }

  static deletePortVlan(value: PortVlanChange): Operation {
    const made = new Operation(13);
    made._13 = value;
    return made;
  }
  get isDeletePortVlan(): bool {
    return this.kind == 13;
  }
  get asDeletePortVlan(): PortVlanChange {
    assert(this.kind == 13, "the variant is not delete-port-vlan");
    return this._13 as PortVlanChange;
  }

  /** An address that the link already has is a fault. */
  static addAddress(value: AddressChange): Operation {
    const made = new Operation(14);
    made._14 = value;
    return made;
  }
  get isAddAddress(): bool {
    return this.kind == 14;
  }
  get asAddAddress(): AddressChange {
    assert(this.kind == 14, "the variant is not add-address");
    return this._14 as AddressChange;
  }

  /**
   * Adds the address unless the link has it. A bridge that gets an address keeps from then on the MAC that it had before
   * this call of `apply` gave it ports.
   */
  static ensureAddress(value: AddressWish): Operation {
    const made = new Operation(15);
    made._15 = value;
    return made;
  }
  get isEnsureAddress(): bool {
    return this.kind == 15;
  }
  get asEnsureAddress(): AddressWish {
    assert(this.kind == 15, "the variant is not ensure-address");
    return this._15 as AddressWish;
  }

  /** Succeeds also if the link does not have the address. */
  static deleteAddress(value: AddressChange): Operation {
    const made = new Operation(16);
    made._16 = value;
    return made;
  }
  get isDeleteAddress(): bool {
    return this.kind == 16;
  }
  get asDeleteAddress(): AddressChange {
    assert(this.kind == 16, "the variant is not delete-address");
    return this._16 as AddressChange;
  }

  /** Succeeds also if the route exists; the existing route stays. */
  static addRoute(value: RouteChange): Operation {
    const made = new Operation(17);
    made._17 = value;
    return made;
  }
  get isAddRoute(): bool {
    return this.kind == 17;
  }
  get asAddRoute(): RouteChange {
    assert(this.kind == 17, "the variant is not add-route");
    return this._17 as RouteChange;
  }

  /** Succeeds also if there is no such route. */
  static deleteRoute(value: RouteChange): Operation {
    const made = new Operation(18);
    made._18 = value;
    return made;
  }
  get isDeleteRoute(): bool {
    return this.kind == 18;
  }
  get asDeleteRoute(): RouteChange {
    assert(this.kind == 18, "the variant is not delete-route");
    return this._18 as RouteChange;
  }

  static addNeighbour(value: NeighbourChange): Operation {
    const made = new Operation(19);
    made._19 = value;
    return made;
  }
  get isAddNeighbour(): bool {
    return this.kind == 19;
  }
  get asAddNeighbour(): NeighbourChange {
    assert(this.kind == 19, "the variant is not add-neighbour");
    return this._19 as NeighbourChange;
  }

  static deleteNeighbour(value: NeighbourChange): Operation {
    const made = new Operation(20);
    made._20 = value;
    return made;
  }
  get isDeleteNeighbour(): bool {
    return this.kind == 20;
  }
  get asDeleteNeighbour(): NeighbourChange {
    assert(this.kind == 20, "the variant is not delete-neighbour");
    return this._20 as NeighbourChange;
  }

  static setInterface(value: InterfaceSetting): Operation {
    const made = new Operation(21);
    made._21 = value;
    return made;
  }
  get isSetInterface(): bool {
    return this.kind == 21;
  }
  get asSetInterface(): InterfaceSetting {
    assert(this.kind == 21, "the variant is not set-interface");
    return this._21 as InterfaceSetting;
  }

  /** Lets the node forward packets of this family. Must be granted. */
  static enableForwarding(value: Family): Operation {
    const made = new Operation(22);
    made._22 = value;
    return made;
  }
  get isEnableForwarding(): bool {
    return this.kind == 22;
  }
  get asEnableForwarding(): Family {
    assert(this.kind == 22, "the variant is not enable-forwarding");
    return this._22;
  }

  /**
   * Waits until the link and its addresses may be used. An address that another host has (DAD) is a fault, and so is a link that is still down
   * after the wait. A link without carrier is none: the carrier may come later, and the kernel then detects duplicates.
   */
  static settle(value: Settling): Operation {
    const made = new Operation(23);
    made._23 = value;
    return made;
  }
  get isSettle(): bool {
    return this.kind == 23;
  }
  get asSettle(): Settling {
    assert(this.kind == 23, "the variant is not settle");
    return this._23 as Settling;
  }
}

export class Address {
  /** With its prefix length. */
  address: string;
  tentative: bool;
  /** True: another host has the address (duplicate address detection). */
  dadFailed: bool;

  constructor(address: string, tentative: bool, dadFailed: bool) {
    this.address = address;
    this.tentative = tentative;
    this.dadFailed = dadFailed;
  }
}

/** The present state of a link. */
export class Link {
  place: Place;
  name: string;
  index: u32;
  /** The kernel's name for the kind: veth, bridge, macvlan, ...; empty for a device. */
  kind: string;
  mac: string | null = null;
  mtu: u32;
  up: bool;
  /** True: the link carries packets now (`IFF_RUNNING`). */
  running: bool;
  promiscuous: bool;
  allMulticast: bool;
  txQueueLength: u32;
  alternativeNames: Array<string> = new Array<string>();
  master: string | null = null;
  /** A veth's other end, if that is in the host's or this pod's namespace. */
  peer: string | null = null;
  /** The lower link of a macvlan, an ipvlan or a VLAN, if that is in the host's or this pod's namespace. */
  parent: string | null = null;
  /** A macvlan's or an ipvlan's mode, as ip(8) names it. */
  mode: string | null = null;
  vlanId: Some<u16> | null = null;
  /** Present for a bridge. */
  vlanFiltering: Some<bool> | null = null;
  /** Present for a port of a bridge. */
  port: Port | null = null;
  portVlans: Array<PortVlan> = new Array<PortVlan>();
  addresses: Array<Address> = new Array<Address>();

  constructor(place: Place, name: string, index: u32, kind: string, mtu: u32, up: bool, running: bool, promiscuous: bool, allMulticast: bool, txQueueLength: u32) {
    this.place = place;
    this.name = name;
    this.index = index;
    this.kind = kind;
    this.mtu = mtu;
    this.up = up;
    this.running = running;
    this.promiscuous = promiscuous;
    this.allMulticast = allMulticast;
    this.txQueueLength = txQueueLength;
  }
}

/**
 * Runs the operations in order. If an operation fails, the earlier operations of this call are undone, the last first, and
 * the fault names the operation (its number, from 0), the link and the kernel's error. The answer has the existing links that the operations made or
 * named, each once, in the order of their first mention; of a veth, the pod's end comes before the node's.
 */
export function apply(operations: Array<Operation>): LinkListOrFault {
  return _calls.links_apply(operations);
}

/** Answers the state of those of the links that exist. A namespace that is gone has none. */
export function read(names: Array<LinkName>): LinkListOrFault {
  return _calls.links_read(names);
}

/** The routes over a link, of all tables but `local`. Without a link: all routes of the pod's namespace. */
export function routes(link: LinkName | null): RouteListOrFault {
  return _calls.links_routes(link);
}

/**
 * The link of the main table's default route with the lowest metric, IPv4 before IPv6. None: there is no default route.
 * On the node's side, a link that is not a granted parent is a fault that names the link.
 */
export function defaultLink(place: Place): OptionalTextOrFault {
  return _calls.links_defaultLink(place);
}

/** The permanent neighbours of a link. */
export function neighbours(link: LinkName): NeighbourListOrFault {
  return _calls.links_neighbours(link);
}
