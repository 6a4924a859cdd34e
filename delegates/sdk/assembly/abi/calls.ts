// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

import * as _memory from "plexus/memory";
import * as _codec from "./codec";
import { BoolOrFault, DnsOrFault, OptionalReservationOrFault, TextListOrFault, U32OrFault } from "./compounds";
import { Level as log_Level } from "./log";
import { Pool as leases_Pool } from "./leases";
import { AttachmentId as types_AttachmentId } from "./types";
import { AddressRange as leases_AddressRange } from "./leases";
import { Fault as types_Fault } from "./types";

// @ts-ignore: decorator
@external("cni:delegate/log@0.1.0", "write")
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
@external("cni:delegate/leases@0.1.0", "reserve")
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
@external("cni:delegate/leases@0.1.0", "reserve-next")
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
@external("cni:delegate/leases@0.1.0", "held")
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
@external("cni:delegate/leases@0.1.0", "release")
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
@external("cni:delegate/leases@0.1.0", "retain")
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
@external("cni:delegate/leases@0.1.0", "count")
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
@external("cni:delegate/leases@0.1.0", "probe")
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
@external("cni:delegate/resolver@0.1.0", "read")
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
