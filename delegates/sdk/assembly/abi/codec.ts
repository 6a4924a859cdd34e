// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

import * as _memory from "plexus/memory";
import { Some } from "plexus/some";
import { BoolOrFault, DnsOrFault, LinkListOrFault, NeighbourListOrFault, OptionalPortStateOrFault, OptionalReservationOrFault, OptionalTextOrFault, PortStateListOrFault, PortStateOrFault, RouteListOrFault, SuccessOrFault, TextListOrFault, U32OrFault } from "./compounds";
import { AddressRange as leases_AddressRange } from "./leases";
import { AttachmentId as types_AttachmentId } from "./types";
import { Fault as types_Fault } from "./types";
import { Operation as links_Operation } from "./links";
import { LinkName as links_LinkName } from "./links";
import { Setting as sysctl_Setting } from "./sysctl";
import { Masquerade as firewall_Masquerade } from "./firewall";
import { PortMapping as firewall_PortMapping } from "./firewall";
import { Condition as firewall_Condition } from "./firewall";
import { AttachmentRequest as types_AttachmentRequest } from "./types";
import { Reservation as leases_Reservation } from "./leases";
import { Dns as types_Dns } from "./types";
import { Family as links_Family } from "./links";
import { Link as links_Link } from "./links";
import { Place as links_Place } from "./links";
import { Route as types_Route } from "./types";
import { Neighbour as links_Neighbour } from "./links";
import { Protocol as firewall_Protocol } from "./firewall";
import { Masquerading as firewall_Masquerading } from "./firewall";
import { Side as firewall_Side } from "./firewall";
import { Success as types_Success } from "./types";
import { PortState as ovs_PortState } from "./ovs";
import { Call as types_Call } from "./types";
import { Network as types_Network } from "./types";
import { Attachment as types_Attachment } from "./types";
import { Bridge as links_Bridge } from "./links";
import { VlanGateway as links_VlanGateway } from "./links";
import { Veth as links_Veth } from "./links";
import { Macvlan as links_Macvlan } from "./links";
import { MacvlanMode as links_MacvlanMode } from "./links";
import { Ipvlan as links_Ipvlan } from "./links";
import { IpvlanMode as links_IpvlanMode } from "./links";
import { Vlan as links_Vlan } from "./links";
import { Dummy as links_Dummy } from "./links";
import { Vrf as links_Vrf } from "./links";
import { Tap as links_Tap } from "./links";
import { Change as links_Change } from "./links";
import { PortChange as links_PortChange } from "./links";
import { PortVlanChange as links_PortVlanChange } from "./links";
import { AddressChange as links_AddressChange } from "./links";
import { AddressWish as links_AddressWish } from "./links";
import { RouteChange as links_RouteChange } from "./links";
import { NeighbourChange as links_NeighbourChange } from "./links";
import { InterfaceSetting as links_InterfaceSetting } from "./links";
import { Settling as links_Settling } from "./links";
import { NetworkInterface as types_NetworkInterface } from "./types";
import { IpConfig as types_IpConfig } from "./types";
import { Arg as types_Arg } from "./types";
import { Pod as types_Pod } from "./types";
import { Port as links_Port } from "./links";
import { PortVlan as links_PortVlan } from "./links";
import { Address as links_Address } from "./links";

export function load_result_bool_types_Fault(at: usize): BoolOrFault {
  if (load<u8>(at) == 0) return BoolOrFault.ok(load<u8>(at + 4) != 0);
  return BoolOrFault.err(load_types_Fault(at + 4));
}

export function store_result_bool_types_Fault(at: usize, value: BoolOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store<u8>(at + 4, value.value ? 1 : 0);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_list_leases_AddressRange(at: usize): Array<leases_AddressRange> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<leases_AddressRange>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_leases_AddressRange(from + <usize>i * 16);
  }
  return list;
}

export function store_list_leases_AddressRange(at: usize, value: Array<leases_AddressRange>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 16, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_leases_AddressRange(to, value[i]);
    to += 16;
  }
}

export function load_list_string(at: usize): Array<string> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<string>(length);
  for (let i = 0; i < length; i++) {
    list[i] = _memory.loadString(from + <usize>i * 8);
  }
  return list;
}

export function store_list_string(at: usize, value: Array<string>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 8, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    _memory.storeString(to, value[i]);
    to += 8;
  }
}

export function load_result_option_leases_Reservation_types_Fault(at: usize): OptionalReservationOrFault {
  if (load<u8>(at) == 0) return OptionalReservationOrFault.ok(load_option_leases_Reservation(at + 4));
  return OptionalReservationOrFault.err(load_types_Fault(at + 4));
}

export function store_result_option_leases_Reservation_types_Fault(at: usize, value: OptionalReservationOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_option_leases_Reservation(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_result_list_string_types_Fault(at: usize): TextListOrFault {
  if (load<u8>(at) == 0) return TextListOrFault.ok(load_list_string(at + 4));
  return TextListOrFault.err(load_types_Fault(at + 4));
}

export function store_result_list_string_types_Fault(at: usize, value: TextListOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_list_string(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_result_u32_types_Fault(at: usize): U32OrFault {
  if (load<u8>(at) == 0) return U32OrFault.ok(load<u32>(at + 4));
  return U32OrFault.err(load_types_Fault(at + 4));
}

export function store_result_u32_types_Fault(at: usize, value: U32OrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store<u32>(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_list_types_AttachmentId(at: usize): Array<types_AttachmentId> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<types_AttachmentId>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_types_AttachmentId(from + <usize>i * 16);
  }
  return list;
}

export function store_list_types_AttachmentId(at: usize, value: Array<types_AttachmentId>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 16, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_types_AttachmentId(to, value[i]);
    to += 16;
  }
}

export function load_result_none_types_Fault(at: usize): types_Fault | null {
  if (load<u8>(at) == 0) return null;
  return load_types_Fault(at + 4);
}

export function store_result_none_types_Fault(at: usize, value: types_Fault | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value);
}

export function load_result_types_Dns_types_Fault(at: usize): DnsOrFault {
  if (load<u8>(at) == 0) return DnsOrFault.ok(load_types_Dns(at + 4));
  return DnsOrFault.err(load_types_Fault(at + 4));
}

export function store_result_types_Dns_types_Fault(at: usize, value: DnsOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_types_Dns(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_list_links_Operation(at: usize): Array<links_Operation> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<links_Operation>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_links_Operation(from + <usize>i * 100);
  }
  return list;
}

export function store_list_links_Operation(at: usize, value: Array<links_Operation>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 100, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_links_Operation(to, value[i]);
    to += 100;
  }
}

export function load_result_list_links_Link_types_Fault(at: usize): LinkListOrFault {
  if (load<u8>(at) == 0) return LinkListOrFault.ok(load_list_links_Link(at + 4));
  return LinkListOrFault.err(load_types_Fault(at + 4));
}

export function store_result_list_links_Link_types_Fault(at: usize, value: LinkListOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_list_links_Link(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_list_links_LinkName(at: usize): Array<links_LinkName> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<links_LinkName>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_links_LinkName(from + <usize>i * 12);
  }
  return list;
}

export function store_list_links_LinkName(at: usize, value: Array<links_LinkName>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 12, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_links_LinkName(to, value[i]);
    to += 12;
  }
}

export function load_result_list_types_Route_types_Fault(at: usize): RouteListOrFault {
  if (load<u8>(at) == 0) return RouteListOrFault.ok(load_list_types_Route(at + 4));
  return RouteListOrFault.err(load_types_Fault(at + 4));
}

export function store_result_list_types_Route_types_Fault(at: usize, value: RouteListOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_list_types_Route(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_result_option_string_types_Fault(at: usize): OptionalTextOrFault {
  if (load<u8>(at) == 0) return OptionalTextOrFault.ok(load_option_string(at + 4));
  return OptionalTextOrFault.err(load_types_Fault(at + 4));
}

export function store_result_option_string_types_Fault(at: usize, value: OptionalTextOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_option_string(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_result_list_links_Neighbour_types_Fault(at: usize): NeighbourListOrFault {
  if (load<u8>(at) == 0) return NeighbourListOrFault.ok(load_list_links_Neighbour(at + 4));
  return NeighbourListOrFault.err(load_types_Fault(at + 4));
}

export function store_result_list_links_Neighbour_types_Fault(at: usize, value: NeighbourListOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_list_links_Neighbour(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_list_sysctl_Setting(at: usize): Array<sysctl_Setting> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<sysctl_Setting>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_sysctl_Setting(from + <usize>i * 16);
  }
  return list;
}

export function store_list_sysctl_Setting(at: usize, value: Array<sysctl_Setting>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 16, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_sysctl_Setting(to, value[i]);
    to += 16;
  }
}

export function load_list_firewall_Masquerade(at: usize): Array<firewall_Masquerade> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<firewall_Masquerade>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_firewall_Masquerade(from + <usize>i * 8);
  }
  return list;
}

export function store_list_firewall_Masquerade(at: usize, value: Array<firewall_Masquerade>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 8, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_firewall_Masquerade(to, value[i]);
    to += 8;
  }
}

export function load_list_firewall_PortMapping(at: usize): Array<firewall_PortMapping> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<firewall_PortMapping>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_firewall_PortMapping(from + <usize>i * 32);
  }
  return list;
}

export function store_list_firewall_PortMapping(at: usize, value: Array<firewall_PortMapping>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 32, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_firewall_PortMapping(to, value[i]);
    to += 32;
  }
}

export function load_list_firewall_Condition(at: usize): Array<firewall_Condition> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<firewall_Condition>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_firewall_Condition(from + <usize>i * 12);
  }
  return list;
}

export function store_list_firewall_Condition(at: usize, value: Array<firewall_Condition>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 12, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_firewall_Condition(to, value[i]);
    to += 12;
  }
}

export function load_result_types_Success_types_Fault(at: usize): SuccessOrFault {
  if (load<u8>(at) == 0) return SuccessOrFault.ok(load_types_Success(at + 4));
  return SuccessOrFault.err(load_types_Fault(at + 4));
}

export function store_result_types_Success_types_Fault(at: usize, value: SuccessOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_types_Success(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_result_ovs_PortState_types_Fault(at: usize): PortStateOrFault {
  if (load<u8>(at) == 0) return PortStateOrFault.ok(load_ovs_PortState(at + 4));
  return PortStateOrFault.err(load_types_Fault(at + 4));
}

export function store_result_ovs_PortState_types_Fault(at: usize, value: PortStateOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_ovs_PortState(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_result_option_ovs_PortState_types_Fault(at: usize): OptionalPortStateOrFault {
  if (load<u8>(at) == 0) return OptionalPortStateOrFault.ok(load_option_ovs_PortState(at + 4));
  return OptionalPortStateOrFault.err(load_types_Fault(at + 4));
}

export function store_result_option_ovs_PortState_types_Fault(at: usize, value: OptionalPortStateOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_option_ovs_PortState(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_result_list_ovs_PortState_types_Fault(at: usize): PortStateListOrFault {
  if (load<u8>(at) == 0) return PortStateListOrFault.ok(load_list_ovs_PortState(at + 4));
  return PortStateListOrFault.err(load_types_Fault(at + 4));
}

export function store_result_list_ovs_PortState_types_Fault(at: usize, value: PortStateListOrFault): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_list_ovs_PortState(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store_types_Fault(at + 4, value.error);
}

export function load_types_AttachmentRequest(at: usize): types_AttachmentRequest {
  const value = new types_AttachmentRequest(load_types_Call(at), load_types_Network(at + 12), load_types_Attachment(at + 36));
  value.prevResult = load_option_types_Success(at + 104);
  return value;
}

export function store_types_AttachmentRequest(at: usize, value: types_AttachmentRequest): void {
  store_types_Call(at, value.call);
  store_types_Network(at + 12, value.network);
  store_types_Attachment(at + 36, value.attachment);
  store_option_types_Success(at + 104, value.prevResult);
}

export function load_types_Fault(at: usize): types_Fault {
  const value = new types_Fault(load<u32>(at), _memory.loadString(at + 4));
  value.details = load_option_string(at + 12);
  return value;
}

export function store_types_Fault(at: usize, value: types_Fault): void {
  store<u32>(at, value.code);
  _memory.storeString(at + 4, value.msg);
  store_option_string(at + 12, value.details);
}

export function load_leases_AddressRange(at: usize): leases_AddressRange {
  const value = new leases_AddressRange(_memory.loadString(at), _memory.loadString(at + 8));
  return value;
}

export function store_leases_AddressRange(at: usize, value: leases_AddressRange): void {
  _memory.storeString(at, value.first);
  _memory.storeString(at + 8, value.last);
}

export function load_option_leases_Reservation(at: usize): leases_Reservation | null {
  if (load<u8>(at) == 0) return null;
  return load_leases_Reservation(at + 4);
}

export function store_option_leases_Reservation(at: usize, value: leases_Reservation | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_leases_Reservation(at + 4, value);
}

export function load_types_AttachmentId(at: usize): types_AttachmentId {
  const value = new types_AttachmentId(_memory.loadString(at), _memory.loadString(at + 8));
  return value;
}

export function store_types_AttachmentId(at: usize, value: types_AttachmentId): void {
  _memory.storeString(at, value.containerId);
  _memory.storeString(at + 8, value.ifname);
}

export function load_types_Dns(at: usize): types_Dns {
  const value = new types_Dns();
  value.nameservers = load_list_string(at);
  value.domain = load_option_string(at + 8);
  value.search = load_list_string(at + 20);
  value.options = load_list_string(at + 28);
  return value;
}

export function store_types_Dns(at: usize, value: types_Dns): void {
  store_list_string(at, value.nameservers);
  store_option_string(at + 8, value.domain);
  store_list_string(at + 20, value.search);
  store_list_string(at + 28, value.options);
}

export function load_links_Operation(at: usize): links_Operation {
  const kind = load<u8>(at);
  if (kind == 0) return links_Operation.ensureBridge(load_links_Bridge(at + 4));
  if (kind == 1) return links_Operation.ensureVlanGateway(load_links_VlanGateway(at + 4));
  if (kind == 2) return links_Operation.addVeth(load_links_Veth(at + 4));
  if (kind == 3) return links_Operation.addMacvlan(load_links_Macvlan(at + 4));
  if (kind == 4) return links_Operation.addIpvlan(load_links_Ipvlan(at + 4));
  if (kind == 5) return links_Operation.addVlan(load_links_Vlan(at + 4));
  if (kind == 6) return links_Operation.addDummy(load_links_Dummy(at + 4));
  if (kind == 7) return links_Operation.addVrf(load_links_Vrf(at + 4));
  if (kind == 8) return links_Operation.addTap(load_links_Tap(at + 4));
  if (kind == 9) return links_Operation.deleteLink(load_links_LinkName(at + 4));
  if (kind == 10) return links_Operation.changeLink(load_links_Change(at + 4));
  if (kind == 11) return links_Operation.changePort(load_links_PortChange(at + 4));
  if (kind == 12) return links_Operation.addPortVlan(load_links_PortVlanChange(at + 4));
  if (kind == 13) return links_Operation.deletePortVlan(load_links_PortVlanChange(at + 4));
  if (kind == 14) return links_Operation.addAddress(load_links_AddressChange(at + 4));
  if (kind == 15) return links_Operation.ensureAddress(load_links_AddressWish(at + 4));
  if (kind == 16) return links_Operation.deleteAddress(load_links_AddressChange(at + 4));
  if (kind == 17) return links_Operation.addRoute(load_links_RouteChange(at + 4));
  if (kind == 18) return links_Operation.deleteRoute(load_links_RouteChange(at + 4));
  if (kind == 19) return links_Operation.addNeighbour(load_links_NeighbourChange(at + 4));
  if (kind == 20) return links_Operation.deleteNeighbour(load_links_NeighbourChange(at + 4));
  if (kind == 21) return links_Operation.setInterface(load_links_InterfaceSetting(at + 4));
  if (kind == 22) return links_Operation.enableForwarding(<links_Family>load<u8>(at + 4));
  return links_Operation.settle(load_links_Settling(at + 4));
}

export function store_links_Operation(at: usize, value: links_Operation): void {
  store<u8>(at, <u8>value.kind);
  if (value.kind == 0) { store_links_Bridge(at + 4, value.asEnsureBridge); }
  if (value.kind == 1) { store_links_VlanGateway(at + 4, value.asEnsureVlanGateway); }
  if (value.kind == 2) { store_links_Veth(at + 4, value.asAddVeth); }
  if (value.kind == 3) { store_links_Macvlan(at + 4, value.asAddMacvlan); }
  if (value.kind == 4) { store_links_Ipvlan(at + 4, value.asAddIpvlan); }
  if (value.kind == 5) { store_links_Vlan(at + 4, value.asAddVlan); }
  if (value.kind == 6) { store_links_Dummy(at + 4, value.asAddDummy); }
  if (value.kind == 7) { store_links_Vrf(at + 4, value.asAddVrf); }
  if (value.kind == 8) { store_links_Tap(at + 4, value.asAddTap); }
  if (value.kind == 9) { store_links_LinkName(at + 4, value.asDeleteLink); }
  if (value.kind == 10) { store_links_Change(at + 4, value.asChangeLink); }
  if (value.kind == 11) { store_links_PortChange(at + 4, value.asChangePort); }
  if (value.kind == 12) { store_links_PortVlanChange(at + 4, value.asAddPortVlan); }
  if (value.kind == 13) { store_links_PortVlanChange(at + 4, value.asDeletePortVlan); }
  if (value.kind == 14) { store_links_AddressChange(at + 4, value.asAddAddress); }
  if (value.kind == 15) { store_links_AddressWish(at + 4, value.asEnsureAddress); }
  if (value.kind == 16) { store_links_AddressChange(at + 4, value.asDeleteAddress); }
  if (value.kind == 17) { store_links_RouteChange(at + 4, value.asAddRoute); }
  if (value.kind == 18) { store_links_RouteChange(at + 4, value.asDeleteRoute); }
  if (value.kind == 19) { store_links_NeighbourChange(at + 4, value.asAddNeighbour); }
  if (value.kind == 20) { store_links_NeighbourChange(at + 4, value.asDeleteNeighbour); }
  if (value.kind == 21) { store_links_InterfaceSetting(at + 4, value.asSetInterface); }
  if (value.kind == 22) { store<u8>(at + 4, <u8>value.asEnableForwarding); }
  if (value.kind == 23) { store_links_Settling(at + 4, value.asSettle); }
}

export function load_list_links_Link(at: usize): Array<links_Link> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<links_Link>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_links_Link(from + <usize>i * 136);
  }
  return list;
}

export function store_list_links_Link(at: usize, value: Array<links_Link>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 136, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_links_Link(to, value[i]);
    to += 136;
  }
}

export function load_links_LinkName(at: usize): links_LinkName {
  const value = new links_LinkName(<links_Place>load<u8>(at), _memory.loadString(at + 4));
  return value;
}

export function store_links_LinkName(at: usize, value: links_LinkName): void {
  store<u8>(at, <u8>value.place);
  _memory.storeString(at + 4, value.name);
}

export function load_list_types_Route(at: usize): Array<types_Route> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<types_Route>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_types_Route(from + <usize>i * 60);
  }
  return list;
}

export function store_list_types_Route(at: usize, value: Array<types_Route>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 60, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_types_Route(to, value[i]);
    to += 60;
  }
}

export function load_option_string(at: usize): string | null {
  if (load<u8>(at) == 0) return null;
  return _memory.loadString(at + 4);
}

export function store_option_string(at: usize, value: string | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  _memory.storeString(at + 4, value);
}

export function load_list_links_Neighbour(at: usize): Array<links_Neighbour> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<links_Neighbour>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_links_Neighbour(from + <usize>i * 24);
  }
  return list;
}

export function store_list_links_Neighbour(at: usize, value: Array<links_Neighbour>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 24, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_links_Neighbour(to, value[i]);
    to += 24;
  }
}

export function load_sysctl_Setting(at: usize): sysctl_Setting {
  const value = new sysctl_Setting(_memory.loadString(at), _memory.loadString(at + 8));
  return value;
}

export function store_sysctl_Setting(at: usize, value: sysctl_Setting): void {
  _memory.storeString(at, value.key);
  _memory.storeString(at + 8, value.value);
}

export function load_firewall_Masquerade(at: usize): firewall_Masquerade {
  const value = new firewall_Masquerade(_memory.loadString(at));
  return value;
}

export function store_firewall_Masquerade(at: usize, value: firewall_Masquerade): void {
  _memory.storeString(at, value.address);
}

export function load_firewall_PortMapping(at: usize): firewall_PortMapping {
  const value = new firewall_PortMapping(<firewall_Protocol>load<u8>(at), load<u16>(at + 16), _memory.loadString(at + 20), load<u16>(at + 28), <firewall_Masquerading>load<u8>(at + 30));
  value.hostAddress = load_option_string(at + 4);
  return value;
}

export function store_firewall_PortMapping(at: usize, value: firewall_PortMapping): void {
  store<u8>(at, <u8>value.protocol);
  store_option_string(at + 4, value.hostAddress);
  store<u16>(at + 16, value.hostPort);
  _memory.storeString(at + 20, value.podAddress);
  store<u16>(at + 28, value.podPort);
  store<u8>(at + 30, <u8>value.masquerading);
}

export function load_firewall_Condition(at: usize): firewall_Condition {
  const value = new firewall_Condition(<firewall_Side>load<u8>(at), load<u8>(at + 1) != 0, _memory.loadString(at + 4));
  return value;
}

export function store_firewall_Condition(at: usize, value: firewall_Condition): void {
  store<u8>(at, <u8>value.side);
  store<u8>(at + 1, value.negated ? 1 : 0);
  _memory.storeString(at + 4, value.network);
}

export function load_types_Success(at: usize): types_Success {
  const value = new types_Success();
  value.interfaces = load_list_types_NetworkInterface(at);
  value.ips = load_list_types_IpConfig(at + 8);
  value.routes = load_list_types_Route(at + 16);
  value.dns = load_option_types_Dns(at + 24);
  return value;
}

export function store_types_Success(at: usize, value: types_Success): void {
  store_list_types_NetworkInterface(at, value.interfaces);
  store_list_types_IpConfig(at + 8, value.ips);
  store_list_types_Route(at + 16, value.routes);
  store_option_types_Dns(at + 24, value.dns);
}

export function load_ovs_PortState(at: usize): ovs_PortState {
  const value = new ovs_PortState(_memory.loadString(at), _memory.loadString(at + 8), _memory.loadString(at + 16), _memory.loadString(at + 24), load<u8>(at + 52) != 0, load<u8>(at + 53) != 0);
  value.number = load_option_u32(at + 32);
  value.error = load_option_string(at + 40);
  return value;
}

export function store_ovs_PortState(at: usize, value: ovs_PortState): void {
  _memory.storeString(at, value.bridge);
  _memory.storeString(at + 8, value.link);
  _memory.storeString(at + 16, value.interfaceId);
  _memory.storeString(at + 24, value.mac);
  store_option_u32(at + 32, value.number);
  store_option_string(at + 40, value.error);
  store<u8>(at + 52, value.linkUp ? 1 : 0);
  store<u8>(at + 53, value.installed ? 1 : 0);
}

export function load_option_ovs_PortState(at: usize): ovs_PortState | null {
  if (load<u8>(at) == 0) return null;
  return load_ovs_PortState(at + 4);
}

export function store_option_ovs_PortState(at: usize, value: ovs_PortState | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_ovs_PortState(at + 4, value);
}

export function load_list_ovs_PortState(at: usize): Array<ovs_PortState> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<ovs_PortState>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_ovs_PortState(from + <usize>i * 56);
  }
  return list;
}

export function store_list_ovs_PortState(at: usize, value: Array<ovs_PortState>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 56, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_ovs_PortState(to, value[i]);
    to += 56;
  }
}

export function load_types_Call(at: usize): types_Call {
  const value = new types_Call(load<u32>(at));
  value.granted = load_list_string(at + 4);
  return value;
}

export function store_types_Call(at: usize, value: types_Call): void {
  store<u32>(at, value.remainingMs);
  store_list_string(at + 4, value.granted);
}

export function load_types_Network(at: usize): types_Network {
  const value = new types_Network(_memory.loadString(at), _memory.loadString(at + 8), _memory.loadString(at + 16));
  return value;
}

export function store_types_Network(at: usize, value: types_Network): void {
  _memory.storeString(at, value.cniVersion);
  _memory.storeString(at + 8, value.name);
  _memory.storeString(at + 16, value.config);
}

export function load_types_Attachment(at: usize): types_Attachment {
  const value = new types_Attachment(_memory.loadString(at), _memory.loadString(at + 20));
  value.netns = load_option_string(at + 8);
  value.args = load_list_types_Arg(at + 28);
  value.pod = load_option_types_Pod(at + 36);
  return value;
}

export function store_types_Attachment(at: usize, value: types_Attachment): void {
  _memory.storeString(at, value.containerId);
  store_option_string(at + 8, value.netns);
  _memory.storeString(at + 20, value.ifname);
  store_list_types_Arg(at + 28, value.args);
  store_option_types_Pod(at + 36, value.pod);
}

export function load_option_types_Success(at: usize): types_Success | null {
  if (load<u8>(at) == 0) return null;
  return load_types_Success(at + 4);
}

export function store_option_types_Success(at: usize, value: types_Success | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_types_Success(at + 4, value);
}

export function load_leases_Reservation(at: usize): leases_Reservation {
  const value = new leases_Reservation(_memory.loadString(at), load<u8>(at + 8) != 0);
  return value;
}

export function store_leases_Reservation(at: usize, value: leases_Reservation): void {
  _memory.storeString(at, value.address);
  store<u8>(at + 8, value.heldBefore ? 1 : 0);
}

export function load_links_Bridge(at: usize): links_Bridge {
  const value = new links_Bridge(_memory.loadString(at), load<u8>(at + 16) != 0);
  value.mtu = load_option_u32(at + 8);
  value.defaultPvid = load_option_u16(at + 18);
  return value;
}

export function store_links_Bridge(at: usize, value: links_Bridge): void {
  _memory.storeString(at, value.name);
  store_option_u32(at + 8, value.mtu);
  store<u8>(at + 16, value.vlanFiltering ? 1 : 0);
  store_option_u16(at + 18, value.defaultPvid);
}

export function load_links_VlanGateway(at: usize): links_VlanGateway {
  const value = new links_VlanGateway(_memory.loadString(at), load<u16>(at + 8), load<u8>(at + 20) != 0);
  value.mtu = load_option_u32(at + 12);
  return value;
}

export function store_links_VlanGateway(at: usize, value: links_VlanGateway): void {
  _memory.storeString(at, value.bridge);
  store<u16>(at + 8, value.id);
  store_option_u32(at + 12, value.mtu);
  store<u8>(at + 20, value.keepDefaultVlan ? 1 : 0);
}

export function load_links_Veth(at: usize): links_Veth {
  const value = new links_Veth(_memory.loadString(at), load<u8>(at + 84) != 0, load<u8>(at + 85) != 0);
  value.hostName = load_option_string(at + 8);
  value.mac = load_option_string(at + 20);
  value.hostMac = load_option_string(at + 32);
  value.mtu = load_option_u32(at + 44);
  value.master = load_option_string(at + 52);
  value.port = load_option_links_Port(at + 64);
  value.vlans = load_list_links_PortVlan(at + 76);
  return value;
}

export function store_links_Veth(at: usize, value: links_Veth): void {
  _memory.storeString(at, value.name);
  store_option_string(at + 8, value.hostName);
  store_option_string(at + 20, value.mac);
  store_option_string(at + 32, value.hostMac);
  store_option_u32(at + 44, value.mtu);
  store_option_string(at + 52, value.master);
  store_option_links_Port(at + 64, value.port);
  store_list_links_PortVlan(at + 76, value.vlans);
  store<u8>(at + 84, value.keepDefaultVlan ? 1 : 0);
  store<u8>(at + 85, value.up ? 1 : 0);
}

export function load_links_Macvlan(at: usize): links_Macvlan {
  const value = new links_Macvlan(_memory.loadString(at), load_links_LinkName(at + 8), <links_MacvlanMode>load<u8>(at + 20));
  value.mac = load_option_string(at + 24);
  value.mtu = load_option_u32(at + 36);
  value.broadcastQueue = load_option_u32(at + 44);
  return value;
}

export function store_links_Macvlan(at: usize, value: links_Macvlan): void {
  _memory.storeString(at, value.name);
  store_links_LinkName(at + 8, value.parent);
  store<u8>(at + 20, <u8>value.mode);
  store_option_string(at + 24, value.mac);
  store_option_u32(at + 36, value.mtu);
  store_option_u32(at + 44, value.broadcastQueue);
}

export function load_links_Ipvlan(at: usize): links_Ipvlan {
  const value = new links_Ipvlan(_memory.loadString(at), load_links_LinkName(at + 8), <links_IpvlanMode>load<u8>(at + 20));
  value.mtu = load_option_u32(at + 24);
  return value;
}

export function store_links_Ipvlan(at: usize, value: links_Ipvlan): void {
  _memory.storeString(at, value.name);
  store_links_LinkName(at + 8, value.parent);
  store<u8>(at + 20, <u8>value.mode);
  store_option_u32(at + 24, value.mtu);
}

export function load_links_Vlan(at: usize): links_Vlan {
  const value = new links_Vlan(_memory.loadString(at), load_links_LinkName(at + 8), load<u16>(at + 20));
  value.mtu = load_option_u32(at + 24);
  return value;
}

export function store_links_Vlan(at: usize, value: links_Vlan): void {
  _memory.storeString(at, value.name);
  store_links_LinkName(at + 8, value.parent);
  store<u16>(at + 20, value.id);
  store_option_u32(at + 24, value.mtu);
}

export function load_links_Dummy(at: usize): links_Dummy {
  const value = new links_Dummy(_memory.loadString(at));
  value.mac = load_option_string(at + 8);
  value.mtu = load_option_u32(at + 20);
  return value;
}

export function store_links_Dummy(at: usize, value: links_Dummy): void {
  _memory.storeString(at, value.name);
  store_option_string(at + 8, value.mac);
  store_option_u32(at + 20, value.mtu);
}

export function load_links_Vrf(at: usize): links_Vrf {
  const value = new links_Vrf(_memory.loadString(at), load<u32>(at + 8));
  return value;
}

export function store_links_Vrf(at: usize, value: links_Vrf): void {
  _memory.storeString(at, value.name);
  store<u32>(at + 8, value.table);
}

export function load_links_Tap(at: usize): links_Tap {
  const value = new links_Tap(_memory.loadString(at), load<u8>(at + 28) != 0);
  value.mac = load_option_string(at + 8);
  value.mtu = load_option_u32(at + 20);
  value.owner = load_option_u32(at + 32);
  value.group = load_option_u32(at + 40);
  return value;
}

export function store_links_Tap(at: usize, value: links_Tap): void {
  _memory.storeString(at, value.name);
  store_option_string(at + 8, value.mac);
  store_option_u32(at + 20, value.mtu);
  store<u8>(at + 28, value.multiQueue ? 1 : 0);
  store_option_u32(at + 32, value.owner);
  store_option_u32(at + 40, value.group);
}

export function load_links_Change(at: usize): links_Change {
  const value = new links_Change(load_links_LinkName(at));
  value.up = load_option_bool(at + 12);
  value.mac = load_option_string(at + 16);
  value.mtu = load_option_u32(at + 28);
  value.promiscuous = load_option_bool(at + 36);
  value.allMulticast = load_option_bool(at + 38);
  value.txQueueLength = load_option_u32(at + 40);
  value.master = load_option_string(at + 48);
  value.alternativeNames = load_list_string(at + 60);
  return value;
}

export function store_links_Change(at: usize, value: links_Change): void {
  store_links_LinkName(at, value.link);
  store_option_bool(at + 12, value.up);
  store_option_string(at + 16, value.mac);
  store_option_u32(at + 28, value.mtu);
  store_option_bool(at + 36, value.promiscuous);
  store_option_bool(at + 38, value.allMulticast);
  store_option_u32(at + 40, value.txQueueLength);
  store_option_string(at + 48, value.master);
  store_list_string(at + 60, value.alternativeNames);
}

export function load_links_PortChange(at: usize): links_PortChange {
  const value = new links_PortChange(_memory.loadString(at), load_links_Port(at + 8));
  return value;
}

export function store_links_PortChange(at: usize, value: links_PortChange): void {
  _memory.storeString(at, value.link);
  store_links_Port(at + 8, value.port);
}

export function load_links_PortVlanChange(at: usize): links_PortVlanChange {
  const value = new links_PortVlanChange(_memory.loadString(at), load_links_PortVlan(at + 8));
  return value;
}

export function store_links_PortVlanChange(at: usize, value: links_PortVlanChange): void {
  _memory.storeString(at, value.link);
  store_links_PortVlan(at + 8, value.vlan);
}

export function load_links_AddressChange(at: usize): links_AddressChange {
  const value = new links_AddressChange(load_links_LinkName(at), _memory.loadString(at + 12), load<u8>(at + 20) != 0);
  return value;
}

export function store_links_AddressChange(at: usize, value: links_AddressChange): void {
  store_links_LinkName(at, value.link);
  _memory.storeString(at + 12, value.address);
  store<u8>(at + 20, value.noDad ? 1 : 0);
}

export function load_links_AddressWish(at: usize): links_AddressWish {
  const value = new links_AddressWish(load_links_LinkName(at), _memory.loadString(at + 12), load<u8>(at + 20) != 0);
  return value;
}

export function store_links_AddressWish(at: usize, value: links_AddressWish): void {
  store_links_LinkName(at, value.link);
  _memory.storeString(at + 12, value.address);
  store<u8>(at + 20, value.replace ? 1 : 0);
}

export function load_links_RouteChange(at: usize): links_RouteChange {
  const value = new links_RouteChange(<links_Place>load<u8>(at + 16), load_types_Route(at + 20), load<u8>(at + 80) != 0);
  value.link = load_option_links_LinkName(at);
  value.source = load_option_string(at + 84);
  return value;
}

export function store_links_RouteChange(at: usize, value: links_RouteChange): void {
  store_option_links_LinkName(at, value.link);
  store<u8>(at + 16, <u8>value.place);
  store_types_Route(at + 20, value.route);
  store<u8>(at + 80, value.onLink ? 1 : 0);
  store_option_string(at + 84, value.source);
}

export function load_links_NeighbourChange(at: usize): links_NeighbourChange {
  const value = new links_NeighbourChange(load_links_LinkName(at), load_links_Neighbour(at + 12));
  return value;
}

export function store_links_NeighbourChange(at: usize, value: links_NeighbourChange): void {
  store_links_LinkName(at, value.link);
  store_links_Neighbour(at + 12, value.neighbour);
}

export function load_links_InterfaceSetting(at: usize): links_InterfaceSetting {
  const value = new links_InterfaceSetting(load_links_LinkName(at), <links_Family>load<u8>(at + 12), _memory.loadString(at + 16), _memory.loadString(at + 24), load<u8>(at + 32) != 0);
  return value;
}

export function store_links_InterfaceSetting(at: usize, value: links_InterfaceSetting): void {
  store_links_LinkName(at, value.link);
  store<u8>(at + 12, <u8>value.family);
  _memory.storeString(at + 16, value.name);
  _memory.storeString(at + 24, value.value);
  store<u8>(at + 32, value.required ? 1 : 0);
}

export function load_links_Settling(at: usize): links_Settling {
  const value = new links_Settling(load_links_LinkName(at), load<u32>(at + 12));
  return value;
}

export function store_links_Settling(at: usize, value: links_Settling): void {
  store_links_LinkName(at, value.link);
  store<u32>(at + 12, value.milliseconds);
}

export function load_links_Link(at: usize): links_Link {
  const value = new links_Link(<links_Place>load<u8>(at), _memory.loadString(at + 4), load<u32>(at + 12), _memory.loadString(at + 16), load<u32>(at + 36), load<u8>(at + 40) != 0, load<u8>(at + 41) != 0, load<u8>(at + 42) != 0, load<u8>(at + 43) != 0, load<u32>(at + 44));
  value.mac = load_option_string(at + 24);
  value.alternativeNames = load_list_string(at + 48);
  value.master = load_option_string(at + 56);
  value.peer = load_option_string(at + 68);
  value.parent = load_option_string(at + 80);
  value.mode = load_option_string(at + 92);
  value.vlanId = load_option_u16(at + 104);
  value.vlanFiltering = load_option_bool(at + 108);
  value.port = load_option_links_Port(at + 110);
  value.portVlans = load_list_links_PortVlan(at + 120);
  value.addresses = load_list_links_Address(at + 128);
  return value;
}

export function store_links_Link(at: usize, value: links_Link): void {
  store<u8>(at, <u8>value.place);
  _memory.storeString(at + 4, value.name);
  store<u32>(at + 12, value.index);
  _memory.storeString(at + 16, value.kind);
  store_option_string(at + 24, value.mac);
  store<u32>(at + 36, value.mtu);
  store<u8>(at + 40, value.up ? 1 : 0);
  store<u8>(at + 41, value.running ? 1 : 0);
  store<u8>(at + 42, value.promiscuous ? 1 : 0);
  store<u8>(at + 43, value.allMulticast ? 1 : 0);
  store<u32>(at + 44, value.txQueueLength);
  store_list_string(at + 48, value.alternativeNames);
  store_option_string(at + 56, value.master);
  store_option_string(at + 68, value.peer);
  store_option_string(at + 80, value.parent);
  store_option_string(at + 92, value.mode);
  store_option_u16(at + 104, value.vlanId);
  store_option_bool(at + 108, value.vlanFiltering);
  store_option_links_Port(at + 110, value.port);
  store_list_links_PortVlan(at + 120, value.portVlans);
  store_list_links_Address(at + 128, value.addresses);
}

export function load_types_Route(at: usize): types_Route {
  const value = new types_Route(_memory.loadString(at));
  value.gw = load_option_string(at + 8);
  value.mtu = load_option_u32(at + 20);
  value.advmss = load_option_u32(at + 28);
  value.priority = load_option_u32(at + 36);
  value.table = load_option_u32(at + 44);
  value.scope = load_option_u32(at + 52);
  return value;
}

export function store_types_Route(at: usize, value: types_Route): void {
  _memory.storeString(at, value.dst);
  store_option_string(at + 8, value.gw);
  store_option_u32(at + 20, value.mtu);
  store_option_u32(at + 28, value.advmss);
  store_option_u32(at + 36, value.priority);
  store_option_u32(at + 44, value.table);
  store_option_u32(at + 52, value.scope);
}

export function load_links_Neighbour(at: usize): links_Neighbour {
  const value = new links_Neighbour(_memory.loadString(at), load<u8>(at + 20) != 0);
  value.mac = load_option_string(at + 8);
  return value;
}

export function store_links_Neighbour(at: usize, value: links_Neighbour): void {
  _memory.storeString(at, value.address);
  store_option_string(at + 8, value.mac);
  store<u8>(at + 20, value.proxy ? 1 : 0);
}

export function load_list_types_NetworkInterface(at: usize): Array<types_NetworkInterface> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<types_NetworkInterface>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_types_NetworkInterface(from + <usize>i * 64);
  }
  return list;
}

export function store_list_types_NetworkInterface(at: usize, value: Array<types_NetworkInterface>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 64, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_types_NetworkInterface(to, value[i]);
    to += 64;
  }
}

export function load_list_types_IpConfig(at: usize): Array<types_IpConfig> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<types_IpConfig>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_types_IpConfig(from + <usize>i * 28);
  }
  return list;
}

export function store_list_types_IpConfig(at: usize, value: Array<types_IpConfig>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 28, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_types_IpConfig(to, value[i]);
    to += 28;
  }
}

export function load_option_types_Dns(at: usize): types_Dns | null {
  if (load<u8>(at) == 0) return null;
  return load_types_Dns(at + 4);
}

export function store_option_types_Dns(at: usize, value: types_Dns | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_types_Dns(at + 4, value);
}

export function load_option_u32(at: usize): Some<u32> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<u32>(load<u32>(at + 4));
}

export function store_option_u32(at: usize, value: Some<u32> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<u32>(at + 4, value.value);
}

export function load_list_types_Arg(at: usize): Array<types_Arg> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<types_Arg>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_types_Arg(from + <usize>i * 16);
  }
  return list;
}

export function store_list_types_Arg(at: usize, value: Array<types_Arg>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 16, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_types_Arg(to, value[i]);
    to += 16;
  }
}

export function load_option_types_Pod(at: usize): types_Pod | null {
  if (load<u8>(at) == 0) return null;
  return load_types_Pod(at + 4);
}

export function store_option_types_Pod(at: usize, value: types_Pod | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_types_Pod(at + 4, value);
}

export function load_option_u16(at: usize): Some<u16> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<u16>(load<u16>(at + 2));
}

export function store_option_u16(at: usize, value: Some<u16> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<u16>(at + 2, value.value);
}

export function load_option_links_Port(at: usize): links_Port | null {
  if (load<u8>(at) == 0) return null;
  return load_links_Port(at + 1);
}

export function store_option_links_Port(at: usize, value: links_Port | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_links_Port(at + 1, value);
}

export function load_list_links_PortVlan(at: usize): Array<links_PortVlan> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<links_PortVlan>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_links_PortVlan(from + <usize>i * 6);
  }
  return list;
}

export function store_list_links_PortVlan(at: usize, value: Array<links_PortVlan>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 6, 2));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_links_PortVlan(to, value[i]);
    to += 6;
  }
}

export function load_option_bool(at: usize): Some<bool> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<bool>(load<u8>(at + 1) != 0);
}

export function store_option_bool(at: usize, value: Some<bool> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<u8>(at + 1, value.value ? 1 : 0);
}

export function load_links_Port(at: usize): links_Port {
  const value = new links_Port();
  value.hairpin = load_option_bool(at);
  value.isolated = load_option_bool(at + 2);
  value.learning = load_option_bool(at + 4);
  value.flood = load_option_bool(at + 6);
  return value;
}

export function store_links_Port(at: usize, value: links_Port): void {
  store_option_bool(at, value.hairpin);
  store_option_bool(at + 2, value.isolated);
  store_option_bool(at + 4, value.learning);
  store_option_bool(at + 6, value.flood);
}

export function load_links_PortVlan(at: usize): links_PortVlan {
  const value = new links_PortVlan(load<u16>(at), load<u16>(at + 2), load<u8>(at + 4) != 0, load<u8>(at + 5) != 0);
  return value;
}

export function store_links_PortVlan(at: usize, value: links_PortVlan): void {
  store<u16>(at, value.first);
  store<u16>(at + 2, value.last);
  store<u8>(at + 4, value.pvid ? 1 : 0);
  store<u8>(at + 5, value.untagged ? 1 : 0);
}

export function load_option_links_LinkName(at: usize): links_LinkName | null {
  if (load<u8>(at) == 0) return null;
  return load_links_LinkName(at + 4);
}

export function store_option_links_LinkName(at: usize, value: links_LinkName | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_links_LinkName(at + 4, value);
}

export function load_list_links_Address(at: usize): Array<links_Address> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<links_Address>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_links_Address(from + <usize>i * 12);
  }
  return list;
}

export function store_list_links_Address(at: usize, value: Array<links_Address>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 12, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_links_Address(to, value[i]);
    to += 12;
  }
}

export function load_types_NetworkInterface(at: usize): types_NetworkInterface {
  const value = new types_NetworkInterface(_memory.loadString(at));
  value.mac = load_option_string(at + 8);
  value.mtu = load_option_u32(at + 20);
  value.sandbox = load_option_string(at + 28);
  value.socketPath = load_option_string(at + 40);
  value.pciId = load_option_string(at + 52);
  return value;
}

export function store_types_NetworkInterface(at: usize, value: types_NetworkInterface): void {
  _memory.storeString(at, value.name);
  store_option_string(at + 8, value.mac);
  store_option_u32(at + 20, value.mtu);
  store_option_string(at + 28, value.sandbox);
  store_option_string(at + 40, value.socketPath);
  store_option_string(at + 52, value.pciId);
}

export function load_types_IpConfig(at: usize): types_IpConfig {
  const value = new types_IpConfig(_memory.loadString(at));
  value.gateway = load_option_string(at + 8);
  value.interface_ = load_option_s32(at + 20);
  return value;
}

export function store_types_IpConfig(at: usize, value: types_IpConfig): void {
  _memory.storeString(at, value.address);
  store_option_string(at + 8, value.gateway);
  store_option_s32(at + 20, value.interface_);
}

export function load_types_Arg(at: usize): types_Arg {
  const value = new types_Arg(_memory.loadString(at), _memory.loadString(at + 8));
  return value;
}

export function store_types_Arg(at: usize, value: types_Arg): void {
  _memory.storeString(at, value.key);
  _memory.storeString(at + 8, value.value);
}

export function load_types_Pod(at: usize): types_Pod {
  const value = new types_Pod(_memory.loadString(at), _memory.loadString(at + 8));
  value.uid = load_option_string(at + 16);
  return value;
}

export function store_types_Pod(at: usize, value: types_Pod): void {
  _memory.storeString(at, value.namespace);
  _memory.storeString(at + 8, value.name);
  store_option_string(at + 16, value.uid);
}

export function load_links_Address(at: usize): links_Address {
  const value = new links_Address(_memory.loadString(at), load<u8>(at + 8) != 0, load<u8>(at + 9) != 0);
  return value;
}

export function store_links_Address(at: usize, value: links_Address): void {
  _memory.storeString(at, value.address);
  store<u8>(at + 8, value.tentative ? 1 : 0);
  store<u8>(at + 9, value.dadFailed ? 1 : 0);
}

export function load_option_s32(at: usize): Some<i32> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<i32>(load<i32>(at + 4));
}

export function store_option_s32(at: usize, value: Some<i32> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<i32>(at + 4, value.value);
}
