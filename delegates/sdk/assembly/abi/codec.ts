// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

import * as _memory from "plexus/memory";
import { Some } from "plexus/some";
import { BoolOrFault, DnsOrFault, OptionalReservationOrFault, SuccessOrFault, TextListOrFault, U32OrFault } from "./compounds";
import { AddressRange as leases_AddressRange } from "./leases";
import { AttachmentId as types_AttachmentId } from "./types";
import { Fault as types_Fault } from "./types";
import { AttachmentRequest as types_AttachmentRequest } from "./types";
import { Reservation as leases_Reservation } from "./leases";
import { Dns as types_Dns } from "./types";
import { Network as types_Network } from "./types";
import { Attachment as types_Attachment } from "./types";
import { Success as types_Success } from "./types";
import { Arg as types_Arg } from "./types";
import { NetworkInterface as types_NetworkInterface } from "./types";
import { IpConfig as types_IpConfig } from "./types";
import { Route as types_Route } from "./types";

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

export function load_types_AttachmentRequest(at: usize): types_AttachmentRequest {
  const value = new types_AttachmentRequest(load_types_Network(at), load_types_Attachment(at + 24));
  value.prevResult = load_option_types_Success(at + 60);
  return value;
}

export function store_types_AttachmentRequest(at: usize, value: types_AttachmentRequest): void {
  store_types_Network(at, value.network);
  store_types_Attachment(at + 24, value.attachment);
  store_option_types_Success(at + 60, value.prevResult);
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
  return value;
}

export function store_types_Attachment(at: usize, value: types_Attachment): void {
  _memory.storeString(at, value.containerId);
  store_option_string(at + 8, value.netns);
  _memory.storeString(at + 20, value.ifname);
  store_list_types_Arg(at + 28, value.args);
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

export function load_leases_Reservation(at: usize): leases_Reservation {
  const value = new leases_Reservation(_memory.loadString(at), load<u8>(at + 8) != 0);
  return value;
}

export function store_leases_Reservation(at: usize, value: leases_Reservation): void {
  _memory.storeString(at, value.address);
  store<u8>(at + 8, value.heldBefore ? 1 : 0);
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

export function load_types_Arg(at: usize): types_Arg {
  const value = new types_Arg(_memory.loadString(at), _memory.loadString(at + 8));
  return value;
}

export function store_types_Arg(at: usize, value: types_Arg): void {
  _memory.storeString(at, value.key);
  _memory.storeString(at + 8, value.value);
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
