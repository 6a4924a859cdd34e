// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

import * as _memory from "plexus/memory";
import * as _codec from "./codec";
import { BoolOrFault, DnsOrFault, LinkListOrFault, NeighbourListOrFault, OptionalPortStateOrFault, OptionalReservationOrFault, OptionalTextOrFault, PortStateListOrFault, PortStateOrFault, RouteListOrFault, SuccessOrFault, TextListOrFault, U32OrFault } from "./compounds";
import { Level as log_Level } from "./log";
import { Pool as leases_Pool } from "./leases";
import { AttachmentId as types_AttachmentId } from "./types";
import { AddressRange as leases_AddressRange } from "./leases";
import { Fault as types_Fault } from "./types";
import { Operation as links_Operation } from "./links";
import { LinkName as links_LinkName } from "./links";
import { Place as links_Place } from "./links";
import { Setting as sysctl_Setting } from "./sysctl";
import { Rules as firewall_Rules } from "./firewall";
import { Condition as firewall_Condition } from "./firewall";
import { NewPort as ovs_NewPort } from "./ovs";

// @ts-ignore: decorator
@external("cni:delegate/log@1.0.0", "write")
declare function _core_log_write(_p0: i32, _p1: i32, _p2: i32): void;

export function log_write(level: log_Level, message: string): void {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  _p0 = <i32>level;
  _p1 = <i32>_memory.lowerString(message);
  _p2 = _memory.loweredBytes;
  _core_log_write(_p0, _p1, _p2);
  _memory.release(_mark);
}

// @ts-ignore: decorator
@external("cni:delegate/leases@1.0.0", "reserve")
declare function _core_leases_reserve(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: i32, _area: i32): void;

export function leases_reserve(pool: leases_Pool, address: string, owner: types_AttachmentId): BoolOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  let _p7: i32 = 0;
  let _p8: i32 = 0;
  let _p9: i32 = 0;
  const _1 = pool;
  const _2 = _1.directory;
  if (_2 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_2);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_1.set;
  _p4 = <i32>_memory.lowerString(address);
  _p5 = _memory.loweredBytes;
  const _3 = owner;
  _p6 = <i32>_memory.lowerString(_3.containerId);
  _p7 = _memory.loweredBytes;
  _p8 = <i32>_memory.lowerString(_3.ifname);
  _p9 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_leases_reserve(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, _p8, _p9, <i32>_area);
  const _result = _codec.load_result_bool_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/leases@1.0.0", "reserve-next")
declare function _core_leases_reserveNext(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: i32, _p10: i32, _p11: i32, _area: i32): void;

export function leases_reserveNext(pool: leases_Pool, ranges: Array<leases_AddressRange>, skip: Array<string>, owner: types_AttachmentId): OptionalReservationOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  let _p7: i32 = 0;
  let _p8: i32 = 0;
  let _p9: i32 = 0;
  let _p10: i32 = 0;
  let _p11: i32 = 0;
  const _1 = pool;
  const _2 = _1.directory;
  if (_2 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_2);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_1.set;
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_leases_AddressRange(_3, ranges);
  _p4 = load<i32>(_3);
  _p5 = load<i32>(_3, 4);
  const _4 = _memory.allocate(8, 4);
  _codec.store_list_string(_4, skip);
  _p6 = load<i32>(_4);
  _p7 = load<i32>(_4, 4);
  const _5 = owner;
  _p8 = <i32>_memory.lowerString(_5.containerId);
  _p9 = _memory.loweredBytes;
  _p10 = <i32>_memory.lowerString(_5.ifname);
  _p11 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_leases_reserveNext(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, _p8, _p9, _p10, _p11, <i32>_area);
  const _result = _codec.load_result_option_leases_Reservation_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/leases@1.0.0", "held")
declare function _core_leases_held(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _area: i32): void;

export function leases_held(pool: leases_Pool, owner: types_AttachmentId): TextListOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  let _p7: i32 = 0;
  const _1 = pool;
  const _2 = _1.directory;
  if (_2 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_2);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_1.set;
  const _3 = owner;
  _p4 = <i32>_memory.lowerString(_3.containerId);
  _p5 = _memory.loweredBytes;
  _p6 = <i32>_memory.lowerString(_3.ifname);
  _p7 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_leases_held(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, <i32>_area);
  const _result = _codec.load_result_list_string_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/leases@1.0.0", "release")
declare function _core_leases_release(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _area: i32): void;

export function leases_release(pool: leases_Pool, owner: types_AttachmentId): U32OrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  let _p7: i32 = 0;
  const _1 = pool;
  const _2 = _1.directory;
  if (_2 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_2);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_1.set;
  const _3 = owner;
  _p4 = <i32>_memory.lowerString(_3.containerId);
  _p5 = _memory.loweredBytes;
  _p6 = <i32>_memory.lowerString(_3.ifname);
  _p7 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_leases_release(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, <i32>_area);
  const _result = _codec.load_result_u32_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/leases@1.0.0", "retain")
declare function _core_leases_retain(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _area: i32): void;

export function leases_retain(pool: leases_Pool, valid: Array<types_AttachmentId>): U32OrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  const _1 = pool;
  const _2 = _1.directory;
  if (_2 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_2);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_1.set;
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_types_AttachmentId(_3, valid);
  _p4 = load<i32>(_3);
  _p5 = load<i32>(_3, 4);
  const _area = _memory.allocate(28, 4);
  _core_leases_retain(_p0, _p1, _p2, _p3, _p4, _p5, <i32>_area);
  const _result = _codec.load_result_u32_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/leases@1.0.0", "count")
declare function _core_leases_count(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _area: i32): void;

export function leases_count(pool: leases_Pool, ranges: Array<leases_AddressRange>, limit: u32): U32OrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  const _1 = pool;
  const _2 = _1.directory;
  if (_2 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_2);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_1.set;
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_leases_AddressRange(_3, ranges);
  _p4 = load<i32>(_3);
  _p5 = load<i32>(_3, 4);
  _p6 = <i32>limit;
  const _area = _memory.allocate(28, 4);
  _core_leases_count(_p0, _p1, _p2, _p3, _p4, _p5, _p6, <i32>_area);
  const _result = _codec.load_result_u32_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/leases@1.0.0", "probe")
declare function _core_leases_probe(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _area: i32): void;

export function leases_probe(pool: leases_Pool): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  const _1 = pool;
  const _2 = _1.directory;
  if (_2 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_2);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_1.set;
  const _area = _memory.allocate(28, 4);
  _core_leases_probe(_p0, _p1, _p2, _p3, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/resolver@1.0.0", "read")
declare function _core_resolver_read(_p0: i32, _p1: i32, _area: i32): void;

export function resolver_read(path: string): DnsOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  _p0 = <i32>_memory.lowerString(path);
  _p1 = _memory.loweredBytes;
  const _area = _memory.allocate(40, 4);
  _core_resolver_read(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_types_Dns_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/links@1.0.0", "apply")
declare function _core_links_apply(_p0: i32, _p1: i32, _area: i32): void;

export function links_apply(operations: Array<links_Operation>): LinkListOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_links_Operation(_1, operations);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(28, 4);
  _core_links_apply(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_list_links_Link_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/links@1.0.0", "read")
declare function _core_links_read(_p0: i32, _p1: i32, _area: i32): void;

export function links_read(names: Array<links_LinkName>): LinkListOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_links_LinkName(_1, names);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(28, 4);
  _core_links_read(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_list_links_Link_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/links@1.0.0", "routes")
declare function _core_links_routes(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _area: i32): void;

export function links_routes(link: links_LinkName | null): RouteListOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  const _1 = link;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    const _2 = _1;
    _p1 = <i32>_2.place;
    _p2 = <i32>_memory.lowerString(_2.name);
    _p3 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(28, 4);
  _core_links_routes(_p0, _p1, _p2, _p3, <i32>_area);
  const _result = _codec.load_result_list_types_Route_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/links@1.0.0", "default-link")
declare function _core_links_defaultLink(_p0: i32, _area: i32): void;

export function links_defaultLink(place: links_Place): OptionalTextOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>place;
  const _area = _memory.allocate(28, 4);
  _core_links_defaultLink(_p0, <i32>_area);
  const _result = _codec.load_result_option_string_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/links@1.0.0", "neighbours")
declare function _core_links_neighbours(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function links_neighbours(link: links_LinkName): NeighbourListOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = link;
  _p0 = <i32>_1.place;
  _p1 = <i32>_memory.lowerString(_1.name);
  _p2 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_links_neighbours(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_result_list_links_Neighbour_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/sysctl@1.0.0", "read")
declare function _core_sysctl_read(_p0: i32, _p1: i32, _area: i32): void;

export function sysctl_read(keys: Array<string>): TextListOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_string(_1, keys);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(28, 4);
  _core_sysctl_read(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_list_string_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/sysctl@1.0.0", "write")
declare function _core_sysctl_write(_p0: i32, _p1: i32, _area: i32): void;

export function sysctl_write(settings: Array<sysctl_Setting>): TextListOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_sysctl_Setting(_1, settings);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(28, 4);
  _core_sysctl_write(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_list_string_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "replace")
declare function _core_firewall_replace(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _area: i32): void;

export function firewall_replace(rules: firewall_Rules): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  const _1 = rules;
  const _2 = _memory.allocate(8, 4);
  _codec.store_list_firewall_Masquerade(_2, _1.masquerades);
  _p0 = load<i32>(_2);
  _p1 = load<i32>(_2, 4);
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_firewall_PortMapping(_3, _1.portMappings);
  _p2 = load<i32>(_3);
  _p3 = load<i32>(_3, 4);
  const _area = _memory.allocate(28, 4);
  _core_firewall_replace(_p0, _p1, _p2, _p3, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "check")
declare function _core_firewall_check(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _area: i32): void;

export function firewall_check(rules: firewall_Rules): BoolOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  const _1 = rules;
  const _2 = _memory.allocate(8, 4);
  _codec.store_list_firewall_Masquerade(_2, _1.masquerades);
  _p0 = load<i32>(_2);
  _p1 = load<i32>(_2, 4);
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_firewall_PortMapping(_3, _1.portMappings);
  _p2 = load<i32>(_3);
  _p3 = load<i32>(_3, 4);
  const _area = _memory.allocate(28, 4);
  _core_firewall_check(_p0, _p1, _p2, _p3, <i32>_area);
  const _result = _codec.load_result_bool_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "replace-restricted")
declare function _core_firewall_replaceRestricted(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _area: i32): void;

export function firewall_replaceRestricted(rules: firewall_Rules, conditions: Array<firewall_Condition>): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  const _1 = rules;
  const _2 = _memory.allocate(8, 4);
  _codec.store_list_firewall_Masquerade(_2, _1.masquerades);
  _p0 = load<i32>(_2);
  _p1 = load<i32>(_2, 4);
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_firewall_PortMapping(_3, _1.portMappings);
  _p2 = load<i32>(_3);
  _p3 = load<i32>(_3, 4);
  const _4 = _memory.allocate(8, 4);
  _codec.store_list_firewall_Condition(_4, conditions);
  _p4 = load<i32>(_4);
  _p5 = load<i32>(_4, 4);
  const _area = _memory.allocate(28, 4);
  _core_firewall_replaceRestricted(_p0, _p1, _p2, _p3, _p4, _p5, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "check-restricted")
declare function _core_firewall_checkRestricted(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _area: i32): void;

export function firewall_checkRestricted(rules: firewall_Rules, conditions: Array<firewall_Condition>): BoolOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  const _1 = rules;
  const _2 = _memory.allocate(8, 4);
  _codec.store_list_firewall_Masquerade(_2, _1.masquerades);
  _p0 = load<i32>(_2);
  _p1 = load<i32>(_2, 4);
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_firewall_PortMapping(_3, _1.portMappings);
  _p2 = load<i32>(_3);
  _p3 = load<i32>(_3, 4);
  const _4 = _memory.allocate(8, 4);
  _codec.store_list_firewall_Condition(_4, conditions);
  _p4 = load<i32>(_4);
  _p5 = load<i32>(_4, 4);
  const _area = _memory.allocate(28, 4);
  _core_firewall_checkRestricted(_p0, _p1, _p2, _p3, _p4, _p5, <i32>_area);
  const _result = _codec.load_result_bool_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "guard-frames")
declare function _core_firewall_guardFrames(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _area: i32): void;

export function firewall_guardFrames(link: string, mac: string): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  _p0 = <i32>_memory.lowerString(link);
  _p1 = _memory.loweredBytes;
  _p2 = <i32>_memory.lowerString(mac);
  _p3 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_firewall_guardFrames(_p0, _p1, _p2, _p3, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "frames-guarded")
declare function _core_firewall_framesGuarded(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _area: i32): void;

export function firewall_framesGuarded(link: string, mac: string): BoolOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  _p0 = <i32>_memory.lowerString(link);
  _p1 = _memory.loweredBytes;
  _p2 = <i32>_memory.lowerString(mac);
  _p3 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_firewall_framesGuarded(_p0, _p1, _p2, _p3, <i32>_area);
  const _result = _codec.load_result_bool_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "remove")
declare function _core_firewall_remove(_area: i32): void;

export function firewall_remove(): types_Fault | null {
  const _mark = _memory.mark();
  const _area = _memory.allocate(28, 4);
  _core_firewall_remove(<i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "retain")
declare function _core_firewall_retain(_p0: i32, _p1: i32, _area: i32): void;

export function firewall_retain(valid: Array<types_AttachmentId>): U32OrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_types_AttachmentId(_1, valid);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(28, 4);
  _core_firewall_retain(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_u32_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/firewall@1.0.0", "probe")
declare function _core_firewall_probe(_area: i32): void;

export function firewall_probe(): types_Fault | null {
  const _mark = _memory.mark();
  const _area = _memory.allocate(28, 4);
  _core_firewall_probe(<i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/announce@1.0.0", "send")
declare function _core_announce_send(_p0: i32, _p1: i32, _area: i32): void;

export function announce_send(addresses: Array<string>): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_string(_1, addresses);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(28, 4);
  _core_announce_send(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/delegation@1.0.0", "add")
declare function _core_delegation_add(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _area: i32): void;

export function delegation_add(type: string, config: string | null): SuccessOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  _p0 = <i32>_memory.lowerString(type);
  _p1 = _memory.loweredBytes;
  const _1 = config;
  if (_1 === null) {
    _p2 = 0;
  }
  else {
    _p2 = 1;
    _p3 = <i32>_memory.lowerString(_1);
    _p4 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(68, 4);
  _core_delegation_add(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_result_types_Success_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/delegation@1.0.0", "del")
declare function _core_delegation_del(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _area: i32): void;

export function delegation_del(type: string, config: string | null): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  _p0 = <i32>_memory.lowerString(type);
  _p1 = _memory.loweredBytes;
  const _1 = config;
  if (_1 === null) {
    _p2 = 0;
  }
  else {
    _p2 = 1;
    _p3 = <i32>_memory.lowerString(_1);
    _p4 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(28, 4);
  _core_delegation_del(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/delegation@1.0.0", "check")
declare function _core_delegation_check(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _area: i32): void;

export function delegation_check(type: string, config: string | null): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  _p0 = <i32>_memory.lowerString(type);
  _p1 = _memory.loweredBytes;
  const _1 = config;
  if (_1 === null) {
    _p2 = 0;
  }
  else {
    _p2 = 1;
    _p3 = <i32>_memory.lowerString(_1);
    _p4 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(28, 4);
  _core_delegation_check(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/delegation@1.0.0", "gc")
declare function _core_delegation_gc(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _area: i32): void;

export function delegation_gc(type: string, config: string | null): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  _p0 = <i32>_memory.lowerString(type);
  _p1 = _memory.loweredBytes;
  const _1 = config;
  if (_1 === null) {
    _p2 = 0;
  }
  else {
    _p2 = 1;
    _p3 = <i32>_memory.lowerString(_1);
    _p4 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(28, 4);
  _core_delegation_gc(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/delegation@1.0.0", "status")
declare function _core_delegation_status(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _area: i32): void;

export function delegation_status(type: string, config: string | null): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  _p0 = <i32>_memory.lowerString(type);
  _p1 = _memory.loweredBytes;
  const _1 = config;
  if (_1 === null) {
    _p2 = 0;
  }
  else {
    _p2 = 1;
    _p3 = <i32>_memory.lowerString(_1);
    _p4 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(28, 4);
  _core_delegation_status(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/state@1.0.0", "load")
declare function _core_state_load(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function state_load(directory: string | null): OptionalTextOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = directory;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_1);
    _p2 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(28, 4);
  _core_state_load(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_result_option_string_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/state@1.0.0", "save")
declare function _core_state_save(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _area: i32): void;

export function state_save(directory: string | null, text: string): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  const _1 = directory;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_1);
    _p2 = _memory.loweredBytes;
  }
  _p3 = <i32>_memory.lowerString(text);
  _p4 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_state_save(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/state@1.0.0", "remove")
declare function _core_state_remove(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function state_remove(directory: string | null): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = directory;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_1);
    _p2 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(28, 4);
  _core_state_remove(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "add-port")
declare function _core_ovs_addPort(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _area: i32): void;

export function ovs_addPort(port: ovs_NewPort): types_Fault | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  let _p7: i32 = 0;
  const _1 = port;
  _p0 = <i32>_memory.lowerString(_1.bridge);
  _p1 = _memory.loweredBytes;
  _p2 = <i32>_memory.lowerString(_1.link);
  _p3 = _memory.loweredBytes;
  _p4 = <i32>_memory.lowerString(_1.interfaceId);
  _p5 = _memory.loweredBytes;
  _p6 = <i32>_memory.lowerString(_1.mac);
  _p7 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_ovs_addPort(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, <i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "settle")
declare function _core_ovs_settle(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function ovs_settle(link: string, milliseconds: u32): PortStateOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  _p0 = <i32>_memory.lowerString(link);
  _p1 = _memory.loweredBytes;
  _p2 = <i32>milliseconds;
  const _area = _memory.allocate(60, 4);
  _core_ovs_settle(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_result_ovs_PortState_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "port")
declare function _core_ovs_port(_p0: i32, _p1: i32, _area: i32): void;

export function ovs_port(link: string): OptionalPortStateOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  _p0 = <i32>_memory.lowerString(link);
  _p1 = _memory.loweredBytes;
  const _area = _memory.allocate(64, 4);
  _core_ovs_port(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_option_ovs_PortState_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "ports")
declare function _core_ovs_ports(_area: i32): void;

export function ovs_ports(): PortStateListOrFault {
  const _mark = _memory.mark();
  const _area = _memory.allocate(28, 4);
  _core_ovs_ports(<i32>_area);
  const _result = _codec.load_result_list_ovs_PortState_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "remove-port")
declare function _core_ovs_removePort(_p0: i32, _p1: i32, _area: i32): void;

export function ovs_removePort(link: string): BoolOrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  _p0 = <i32>_memory.lowerString(link);
  _p1 = _memory.loweredBytes;
  const _area = _memory.allocate(28, 4);
  _core_ovs_removePort(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_bool_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "remove-ports")
declare function _core_ovs_removePorts(_area: i32): void;

export function ovs_removePorts(): U32OrFault {
  const _mark = _memory.mark();
  const _area = _memory.allocate(28, 4);
  _core_ovs_removePorts(<i32>_area);
  const _result = _codec.load_result_u32_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "retain")
declare function _core_ovs_retain(_p0: i32, _p1: i32, _area: i32): void;

export function ovs_retain(valid: Array<types_AttachmentId>): U32OrFault {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_types_AttachmentId(_1, valid);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(28, 4);
  _core_ovs_retain(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_u32_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("cni:delegate/ovs@1.0.0", "probe")
declare function _core_ovs_probe(_area: i32): void;

export function ovs_probe(): types_Fault | null {
  const _mark = _memory.mark();
  const _area = _memory.allocate(28, 4);
  _core_ovs_probe(<i32>_area);
  const _result = _codec.load_result_none_types_Fault(_area);
  _memory.release(_mark);
  return _result;
}
