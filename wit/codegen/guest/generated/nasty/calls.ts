// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

import * as _memory from "plexus/memory";
import * as _codec from "./codec";
import { Some } from "plexus/some";
import { SingleOfOutcomeresult, SingleOfOutcomeresultstring, SingleOfOutcomeresultu32, SingleOfU64OrError_, TripleOfMixedFloatyOptionalF64, TripleOfU8TextU64, Tuple10OfU8TextTextTextTextTextTextTextU64Mixed, Tuple9OfTextTextTextTextTextTextTextU64F32, U64ListOrError_, U64OrError_ } from "./compounds";
import { Array_ as store_Array_ } from "./store";
import { Mixed as shapes_Mixed } from "./shapes";
import { Record as shapes_Record } from "./shapes";
import { Padded as shapes_Padded } from "./shapes";
import { EmptyLists as shapes_EmptyLists } from "./shapes";
import { Error_ as shapes_Error_ } from "./shapes";
import { Wide as shapes_Wide } from "./shapes";
import { Few as shapes_Few } from "./shapes";
import { Sixteen as shapes_Sixteen } from "./shapes";
import { Full as shapes_Full } from "./shapes";
import { Floaty as shapes_Floaty } from "./shapes";

// @ts-ignore: decorator
@external("test:nasty/store@2.0.1-rc.1", "load")
declare function _core_store_load(_p0: i64, _p1: i32, _p2: i64, _area: i32): void;

export function store_load(value: store_Array_): store_Array_ {
  const _mark = _memory.mark();
  let _p0: i64 = 0;
  let _p1: i32 = 0;
  let _p2: i64 = 0;
  const _1 = value;
  _p0 = <i64>_1.map;
  const _2 = _1.some;
  if (_2 === null) {
    _p1 = 0;
  }
  else {
    _p1 = 1;
    _p2 = <i64>_2.value;
  }
  const _area = _memory.allocate(24, 8);
  _core_store_load(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_store_Array_(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/store@2.0.1-rc.1", "store")
declare function _core_store_store(_p0: i32, _p1: i64, _p2: i64, _p3: i32, _p4: f64, _p5: i32, _area: i32): void;

export function store_store(v: shapes_Mixed): shapes_Mixed {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i64 = 0;
  let _p2: i64 = 0;
  let _p3: i32 = 0;
  let _p4: f64 = 0;
  let _p5: i32 = 0;
  const _1 = v;
  _p0 = _1.kind;
  if (_1.kind == 1) {
    _p1 = <i64><u32><i32>_1.asSmall;
  }
  if (_1.kind == 2) {
    _p1 = <i64>_1.asLarge;
  }
  if (_1.kind == 3) {
    _p1 = <i64><u32>reinterpret<i32>(<f32>_1.asSingle);
  }
  if (_1.kind == 4) {
    _p1 = reinterpret<i64>(<f64>_1.asDouble);
  }
  if (_1.kind == 5) {
    _p1 = <i64><u32><i32>_memory.lowerString(_1.asText);
    _p2 = <i64><u32>_memory.loweredBytes;
  }
  if (_1.kind == 6) {
    const _2 = _1.asPair;
    _p1 = <i64><u32>reinterpret<i32>(<f32>_2.f0);
    _p2 = <i64><u32><i32>_memory.lowerString(_2.f1);
    _p3 = _memory.loweredBytes;
  }
  if (_1.kind == 7) {
    const _3 = _1.asDeep;
    if (_3 === null) {
      _p1 = <i64><u32>0;
    }
    else {
      _p1 = <i64><u32>1;
      const _4 = _3.value;
      if (_4 === null) {
        _p2 = <i64><u32>0;
      }
      else {
        _p2 = <i64><u32>1;
        _p3 = <i32>_4.value;
      }
    }
  }
  if (_1.kind == 8) {
    _p1 = <i64><u32><i32>_1.asKind;
  }
  if (_1.kind == 9) {
    const _5 = _1.asRec;
    _p1 = <i64><u32>(_5.a ? 1 : 0);
    _p2 = <i64>_5.b;
    _p3 = <i32>_5.c;
    _p4 = <f64>_5.d;
    _p5 = <i32>_5.e;
  }
  const _area = _memory.allocate(48, 8);
  _core_store_store(_p0, _p1, _p2, _p3, _p4, _p5, <i32>_area);
  const _result = _codec.load_shapes_Mixed(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/store@2.0.1-rc.1", "memory")
declare function _core_store_memory(_p0: i32, _p1: i32, _area: i32): void;

export function store_memory(p: string): string {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  _p0 = <i32>_memory.lowerString(p);
  _p1 = _memory.loweredBytes;
  const _area = _memory.allocate(8, 4);
  _core_store_memory(_p0, _p1, <i32>_area);
  const _result = _codec.load_string(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/store@2.0.1-rc.1", "abort")
declare function _core_store_abort_(_p0: i32): i32;

export function store_abort_(mark: u32): u32 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>mark;
  const _r = _core_store_abort_(_p0);
  const _result: u32 = <u32>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/store@2.0.1-rc.1", "delete")
declare function _core_store_delete_(_p0: i32): i32;

export function store_delete_(changetype: bool): bool {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = (changetype ? 1 : 0);
  const _r = _core_store_delete_(_p0);
  const _result: bool = _r != 0;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-bool")
declare function _core_echo_doBool(_p0: i32): i32;

export function echo_doBool(v: bool): bool {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = (v ? 1 : 0);
  const _r = _core_echo_doBool(_p0);
  const _result: bool = _r != 0;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-u8")
declare function _core_echo_doU8(_p0: i32): i32;

export function echo_doU8(v: u8): u8 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doU8(_p0);
  const _result: u8 = <u8>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-s8")
declare function _core_echo_doS8(_p0: i32): i32;

export function echo_doS8(v: i8): i8 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doS8(_p0);
  const _result: i8 = <i8>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-u16")
declare function _core_echo_doU16(_p0: i32): i32;

export function echo_doU16(v: u16): u16 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doU16(_p0);
  const _result: u16 = <u16>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-s16")
declare function _core_echo_doS16(_p0: i32): i32;

export function echo_doS16(v: i16): i16 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doS16(_p0);
  const _result: i16 = <i16>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-u32")
declare function _core_echo_doU32(_p0: i32): i32;

export function echo_doU32(v: u32): u32 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doU32(_p0);
  const _result: u32 = <u32>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-s32")
declare function _core_echo_doS32(_p0: i32): i32;

export function echo_doS32(v: i32): i32 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doS32(_p0);
  const _result: i32 = <i32>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-u64")
declare function _core_echo_doU64(_p0: i64): i64;

export function echo_doU64(v: u64): u64 {
  const _mark = _memory.mark();
  let _p0: i64 = 0;
  _p0 = <i64>v;
  const _r = _core_echo_doU64(_p0);
  const _result: u64 = <u64>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-s64")
declare function _core_echo_doS64(_p0: i64): i64;

export function echo_doS64(v: i64): i64 {
  const _mark = _memory.mark();
  let _p0: i64 = 0;
  _p0 = <i64>v;
  const _r = _core_echo_doS64(_p0);
  const _result: i64 = <i64>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-f32")
declare function _core_echo_doF32(_p0: f32): f32;

export function echo_doF32(v: f32): f32 {
  const _mark = _memory.mark();
  let _p0: f32 = 0;
  _p0 = <f32>v;
  const _r = _core_echo_doF32(_p0);
  const _result: f32 = <f32>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-f64")
declare function _core_echo_doF64(_p0: f64): f64;

export function echo_doF64(v: f64): f64 {
  const _mark = _memory.mark();
  let _p0: f64 = 0;
  _p0 = <f64>v;
  const _r = _core_echo_doF64(_p0);
  const _result: f64 = <f64>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-char")
declare function _core_echo_doChar(_p0: i32): i32;

export function echo_doChar(v: u32): u32 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>_memory.char(v);
  const _r = _core_echo_doChar(_p0);
  const _result: u32 = <u32>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-string")
declare function _core_echo_doString(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doString(v: string): string {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  _p0 = <i32>_memory.lowerString(v);
  _p1 = _memory.loweredBytes;
  const _area = _memory.allocate(8, 4);
  _core_echo_doString(_p0, _p1, <i32>_area);
  const _result = _codec.load_string(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-nothing")
declare function _core_echo_doNothing(): void;

export function echo_doNothing(): void {
  const _mark = _memory.mark();
  _core_echo_doNothing();
  _memory.release(_mark);
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-record")
declare function _core_echo_doRecord(_p0: i32, _p1: i64, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: i32, _area: i32): void;

export function echo_doRecord(v: shapes_Record): shapes_Record {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i64 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  let _p7: i32 = 0;
  let _p8: i32 = 0;
  let _p9: i32 = 0;
  const _1 = v;
  _p0 = <i32>_1.interface_;
  _p1 = <i64>_1.constructor_;
  _p2 = (_1.new_ ? 1 : 0);
  const _2 = _1.this_;
  if (_2 === null) {
    _p3 = 0;
  }
  else {
    _p3 = 1;
    _p4 = <i32>_2.value;
  }
  _p5 = <i32>_memory.lowerString(_1.string);
  _p6 = _memory.loweredBytes;
  _p7 = <i32>_1.type;
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_string(_3, _1.array);
  _p8 = load<i32>(_3);
  _p9 = load<i32>(_3, 4);
  const _area = _memory.allocate(40, 8);
  _core_echo_doRecord(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, _p8, _p9, <i32>_area);
  const _result = _codec.load_shapes_Record(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-padded")
declare function _core_echo_doPadded(_p0: i32, _p1: i64, _p2: i32, _p3: f64, _p4: i32, _area: i32): void;

export function echo_doPadded(v: shapes_Padded): shapes_Padded {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i64 = 0;
  let _p2: i32 = 0;
  let _p3: f64 = 0;
  let _p4: i32 = 0;
  const _1 = v;
  _p0 = (_1.a ? 1 : 0);
  _p1 = <i64>_1.b;
  _p2 = <i32>_1.c;
  _p3 = <f64>_1.d;
  _p4 = <i32>_1.e;
  const _area = _memory.allocate(40, 8);
  _core_echo_doPadded(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_shapes_Padded(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-empty-lists")
declare function _core_echo_doEmptyLists(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _area: i32): void;

export function echo_doEmptyLists(v: shapes_EmptyLists): shapes_EmptyLists {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  let _p5: i32 = 0;
  const _1 = v;
  const _2 = _memory.allocate(8, 4);
  _codec.store_list_string(_2, _1.names);
  _p0 = load<i32>(_2);
  _p1 = load<i32>(_2, 4);
  const _3 = _memory.allocate(8, 4);
  _codec.store_list_u64(_3, _1.numbers);
  _p2 = load<i32>(_3);
  _p3 = load<i32>(_3, 4);
  const _4 = _memory.allocate(8, 4);
  _codec.store_list_list_string(_4, _1.nested);
  _p4 = load<i32>(_4);
  _p5 = load<i32>(_4, 4);
  const _area = _memory.allocate(24, 4);
  _core_echo_doEmptyLists(_p0, _p1, _p2, _p3, _p4, _p5, <i32>_area);
  const _result = _codec.load_shapes_EmptyLists(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-error")
declare function _core_echo_doError(_p0: i32): i32;

export function echo_doError(v: shapes_Error_): shapes_Error_ {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doError(_p0);
  const _result: shapes_Error_ = <shapes_Error_>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-wide")
declare function _core_echo_doWide(_p0: i32): i32;

export function echo_doWide(v: shapes_Wide): shapes_Wide {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doWide(_p0);
  const _result: shapes_Wide = <shapes_Wide>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-few")
declare function _core_echo_doFew(_p0: i32): i32;

export function echo_doFew(v: shapes_Few): shapes_Few {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doFew(_p0);
  const _result: shapes_Few = <shapes_Few>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-sixteen")
declare function _core_echo_doSixteen(_p0: i32): i32;

export function echo_doSixteen(v: shapes_Sixteen): shapes_Sixteen {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doSixteen(_p0);
  const _result: shapes_Sixteen = <shapes_Sixteen>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-full")
declare function _core_echo_doFull(_p0: i32): i32;

export function echo_doFull(v: shapes_Full): shapes_Full {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = <i32>v;
  const _r = _core_echo_doFull(_p0);
  const _result: shapes_Full = <shapes_Full>_r;
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-mixed")
declare function _core_echo_doMixed(_p0: i32, _p1: i64, _p2: i64, _p3: i32, _p4: f64, _p5: i32, _area: i32): void;

export function echo_doMixed(v: shapes_Mixed): shapes_Mixed {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i64 = 0;
  let _p2: i64 = 0;
  let _p3: i32 = 0;
  let _p4: f64 = 0;
  let _p5: i32 = 0;
  const _1 = v;
  _p0 = _1.kind;
  if (_1.kind == 1) {
    _p1 = <i64><u32><i32>_1.asSmall;
  }
  if (_1.kind == 2) {
    _p1 = <i64>_1.asLarge;
  }
  if (_1.kind == 3) {
    _p1 = <i64><u32>reinterpret<i32>(<f32>_1.asSingle);
  }
  if (_1.kind == 4) {
    _p1 = reinterpret<i64>(<f64>_1.asDouble);
  }
  if (_1.kind == 5) {
    _p1 = <i64><u32><i32>_memory.lowerString(_1.asText);
    _p2 = <i64><u32>_memory.loweredBytes;
  }
  if (_1.kind == 6) {
    const _2 = _1.asPair;
    _p1 = <i64><u32>reinterpret<i32>(<f32>_2.f0);
    _p2 = <i64><u32><i32>_memory.lowerString(_2.f1);
    _p3 = _memory.loweredBytes;
  }
  if (_1.kind == 7) {
    const _3 = _1.asDeep;
    if (_3 === null) {
      _p1 = <i64><u32>0;
    }
    else {
      _p1 = <i64><u32>1;
      const _4 = _3.value;
      if (_4 === null) {
        _p2 = <i64><u32>0;
      }
      else {
        _p2 = <i64><u32>1;
        _p3 = <i32>_4.value;
      }
    }
  }
  if (_1.kind == 8) {
    _p1 = <i64><u32><i32>_1.asKind;
  }
  if (_1.kind == 9) {
    const _5 = _1.asRec;
    _p1 = <i64><u32>(_5.a ? 1 : 0);
    _p2 = <i64>_5.b;
    _p3 = <i32>_5.c;
    _p4 = <f64>_5.d;
    _p5 = <i32>_5.e;
  }
  const _area = _memory.allocate(48, 8);
  _core_echo_doMixed(_p0, _p1, _p2, _p3, _p4, _p5, <i32>_area);
  const _result = _codec.load_shapes_Mixed(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-floaty")
declare function _core_echo_doFloaty(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doFloaty(v: shapes_Floaty): shapes_Floaty {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = v;
  _p0 = _1.kind;
  if (_1.kind == 0) {
    _p1 = <i32>_1.asI;
  }
  if (_1.kind == 1) {
    _p1 = reinterpret<i32>(<f32>_1.asF);
  }
  const _area = _memory.allocate(8, 4);
  _core_echo_doFloaty(_p0, _p1, <i32>_area);
  const _result = _codec.load_shapes_Floaty(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-ids")
declare function _core_echo_doIds(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doIds(v: Array<u64>): Array<u64> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_u64(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doIds(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_u64(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-maybe")
declare function _core_echo_doMaybe(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function echo_doMaybe(v: string | null): string | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_1);
    _p2 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(12, 4);
  _core_echo_doMaybe(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_option_string(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-nested-option")
declare function _core_echo_doNestedOption(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function echo_doNestedOption(v: Some<Some<u32> | null> | null): Some<Some<u32> | null> | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    const _2 = _1.value;
    if (_2 === null) {
      _p1 = 0;
    }
    else {
      _p1 = 1;
      _p2 = <i32>_2.value;
    }
  }
  const _area = _memory.allocate(12, 4);
  _core_echo_doNestedOption(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_option_option_u32(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-deep-option")
declare function _core_echo_doDeepOption(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _area: i32): void;

export function echo_doDeepOption(v: Some<Some<string | null> | null> | null): Some<Some<string | null> | null> | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  let _p4: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    const _2 = _1.value;
    if (_2 === null) {
      _p1 = 0;
    }
    else {
      _p1 = 1;
      const _3 = _2.value;
      if (_3 === null) {
        _p2 = 0;
      }
      else {
        _p2 = 1;
        _p3 = <i32>_memory.lowerString(_3);
        _p4 = _memory.loweredBytes;
      }
    }
  }
  const _area = _memory.allocate(20, 4);
  _core_echo_doDeepOption(_p0, _p1, _p2, _p3, _p4, <i32>_area);
  const _result = _codec.load_option_option_option_string(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-bytes")
declare function _core_echo_doBytes(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doBytes(v: Array<u8>): Array<u8> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_u8(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doBytes(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_u8(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-bools")
declare function _core_echo_doBools(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doBools(v: Array<bool>): Array<bool> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_bool(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doBools(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_bool(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-chars")
declare function _core_echo_doChars(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doChars(v: Array<u32>): Array<u32> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_char(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doChars(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_char(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-floats")
declare function _core_echo_doFloats(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doFloats(v: Array<f64>): Array<f64> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_f64(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doFloats(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_f64(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-lists")
declare function _core_echo_doLists(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doLists(v: Array<Array<string | null>>): Array<Array<string | null>> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_list_option_string(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doLists(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_list_option_string(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-variants")
declare function _core_echo_doVariants(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doVariants(v: Array<shapes_Mixed>): Array<shapes_Mixed> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_shapes_Mixed(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doVariants(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_shapes_Mixed(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-tuples")
declare function _core_echo_doTuples(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doTuples(v: Array<TripleOfU8TextU64>): Array<TripleOfU8TextU64> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_tuple_u8_string_u64(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doTuples(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_tuple_u8_string_u64(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-outcomes")
declare function _core_echo_doOutcomes(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doOutcomes(v: Array<U64ListOrError_>): Array<U64ListOrError_> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_result_list_u64_shapes_Error_(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doOutcomes(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_result_list_u64_shapes_Error_(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-flags")
declare function _core_echo_doFlags(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doFlags(v: Array<shapes_Full>): Array<shapes_Full> {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = _memory.allocate(8, 4);
  _codec.store_list_shapes_Full(_1, v);
  _p0 = load<i32>(_1);
  _p1 = load<i32>(_1, 4);
  const _area = _memory.allocate(8, 4);
  _core_echo_doFlags(_p0, _p1, <i32>_area);
  const _result = _codec.load_list_shapes_Full(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-result")
declare function _core_echo_doResult(_p0: i32, _p1: i64, _area: i32): void;

export function echo_doResult(v: U64OrError_): SingleOfU64OrError_ {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i64 = 0;
  const _1 = v;
  if (_1.isOk) {
    _p0 = 0;
    _p1 = <i64>_1.value;
  }
  else {
    _p0 = 1;
    _p1 = <i64><u32><i32>_1.error;
  }
  const _area = _memory.allocate(16, 8);
  _core_echo_doResult(_p0, _p1, <i32>_area);
  const _result = _codec.load_tuple_result_u64_shapes_Error_(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-result-ok")
declare function _core_echo_doResultOk(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function echo_doResultOk(v: string | null): SingleOfOutcomeresultstring {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 1;
  }
  else {
    _p0 = 0;
    _p1 = <i32>_memory.lowerString(_1);
    _p2 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(12, 4);
  _core_echo_doResultOk(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_tuple_result_string_none(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-result-err")
declare function _core_echo_doResultErr(_p0: i32, _p1: i32, _area: i32): void;

export function echo_doResultErr(v: Some<u32> | null): SingleOfOutcomeresultu32 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_1.value;
  }
  const _area = _memory.allocate(8, 4);
  _core_echo_doResultErr(_p0, _p1, <i32>_area);
  const _result = _codec.load_tuple_result_none_u32(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-result-none")
declare function _core_echo_doResultNone(_p0: i32): i32;

export function echo_doResultNone(v: bool): SingleOfOutcomeresult {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = (v ? 0 : 1);
  const _r = _core_echo_doResultNone(_p0);
  const _result: SingleOfOutcomeresult = new SingleOfOutcomeresult(_r == 0);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "do-option-of-results")
declare function _core_echo_doOptionOfResults(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _area: i32): void;

export function echo_doOptionOfResults(v: Some<string | null> | null): Some<string | null> | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  let _p3: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    const _2 = _1.value;
    if (_2 === null) {
      _p1 = 0;
    }
    else {
      _p1 = 1;
      _p2 = <i32>_memory.lowerString(_2);
      _p3 = _memory.loweredBytes;
    }
  }
  const _area = _memory.allocate(16, 4);
  _core_echo_doOptionOfResults(_p0, _p1, _p2, _p3, <i32>_area);
  const _result = _codec.load_option_result_none_string(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "in-registers")
declare function _core_echo_inRegisters(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: i32, _p10: i32, _p11: i32, _p12: i32, _p13: i32, _p14: i64, _p15: f32, _area: i32): void;

export function echo_inRegisters(a: string, b: string, c: string, d: string, e: string, f: string, g: string, h: u64, i: f32): Tuple9OfTextTextTextTextTextTextTextU64F32 {
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
  let _p12: i32 = 0;
  let _p13: i32 = 0;
  let _p14: i64 = 0;
  let _p15: f32 = 0;
  _p0 = <i32>_memory.lowerString(a);
  _p1 = _memory.loweredBytes;
  _p2 = <i32>_memory.lowerString(b);
  _p3 = _memory.loweredBytes;
  _p4 = <i32>_memory.lowerString(c);
  _p5 = _memory.loweredBytes;
  _p6 = <i32>_memory.lowerString(d);
  _p7 = _memory.loweredBytes;
  _p8 = <i32>_memory.lowerString(e);
  _p9 = _memory.loweredBytes;
  _p10 = <i32>_memory.lowerString(f);
  _p11 = _memory.loweredBytes;
  _p12 = <i32>_memory.lowerString(g);
  _p13 = _memory.loweredBytes;
  _p14 = <i64>h;
  _p15 = <f32>i;
  const _area = _memory.allocate(72, 8);
  _core_echo_inRegisters(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, _p8, _p9, _p10, _p11, _p12, _p13, _p14, _p15, <i32>_area);
  const _result = _codec.load_tuple_string_string_string_string_string_string_string_u64_f32(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "in-memory")
declare function _core_echo_inMemory(_params: i32, _area: i32): void;

export function echo_inMemory(a: u8, b: string, c: string, d: string, e: string, f: string, g: string, h: string, i: u64, j: shapes_Mixed): Tuple10OfU8TextTextTextTextTextTextTextU64Mixed {
  const _mark = _memory.mark();
  const _params = _memory.allocate(120, 8);
  _codec.store_u8(_params + 0, a);
  _codec.store_string(_params + 4, b);
  _codec.store_string(_params + 12, c);
  _codec.store_string(_params + 20, d);
  _codec.store_string(_params + 28, e);
  _codec.store_string(_params + 36, f);
  _codec.store_string(_params + 44, g);
  _codec.store_string(_params + 52, h);
  _codec.store_u64(_params + 64, i);
  _codec.store_shapes_Mixed(_params + 72, j);
  const _area = _memory.allocate(120, 8);
  _core_echo_inMemory(<i32>_params, <i32>_area);
  const _result = _codec.load_tuple_u8_string_string_string_string_string_string_string_u64_shapes_Mixed(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "joined")
declare function _core_echo_joined(_p0: i32, _p1: i64, _p2: i64, _p3: i32, _p4: f64, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: f64, _area: i32): void;

export function echo_joined(a: shapes_Mixed, b: shapes_Floaty, c: Some<f64> | null): TripleOfMixedFloatyOptionalF64 {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i64 = 0;
  let _p2: i64 = 0;
  let _p3: i32 = 0;
  let _p4: f64 = 0;
  let _p5: i32 = 0;
  let _p6: i32 = 0;
  let _p7: i32 = 0;
  let _p8: i32 = 0;
  let _p9: f64 = 0;
  const _1 = a;
  _p0 = _1.kind;
  if (_1.kind == 1) {
    _p1 = <i64><u32><i32>_1.asSmall;
  }
  if (_1.kind == 2) {
    _p1 = <i64>_1.asLarge;
  }
  if (_1.kind == 3) {
    _p1 = <i64><u32>reinterpret<i32>(<f32>_1.asSingle);
  }
  if (_1.kind == 4) {
    _p1 = reinterpret<i64>(<f64>_1.asDouble);
  }
  if (_1.kind == 5) {
    _p1 = <i64><u32><i32>_memory.lowerString(_1.asText);
    _p2 = <i64><u32>_memory.loweredBytes;
  }
  if (_1.kind == 6) {
    const _2 = _1.asPair;
    _p1 = <i64><u32>reinterpret<i32>(<f32>_2.f0);
    _p2 = <i64><u32><i32>_memory.lowerString(_2.f1);
    _p3 = _memory.loweredBytes;
  }
  if (_1.kind == 7) {
    const _3 = _1.asDeep;
    if (_3 === null) {
      _p1 = <i64><u32>0;
    }
    else {
      _p1 = <i64><u32>1;
      const _4 = _3.value;
      if (_4 === null) {
        _p2 = <i64><u32>0;
      }
      else {
        _p2 = <i64><u32>1;
        _p3 = <i32>_4.value;
      }
    }
  }
  if (_1.kind == 8) {
    _p1 = <i64><u32><i32>_1.asKind;
  }
  if (_1.kind == 9) {
    const _5 = _1.asRec;
    _p1 = <i64><u32>(_5.a ? 1 : 0);
    _p2 = <i64>_5.b;
    _p3 = <i32>_5.c;
    _p4 = <f64>_5.d;
    _p5 = <i32>_5.e;
  }
  const _6 = b;
  _p6 = _6.kind;
  if (_6.kind == 0) {
    _p7 = <i32>_6.asI;
  }
  if (_6.kind == 1) {
    _p7 = reinterpret<i32>(<f32>_6.asF);
  }
  const _7 = c;
  if (_7 === null) {
    _p8 = 0;
  }
  else {
    _p8 = 1;
    _p9 = <f64>_7.value;
  }
  const _area = _memory.allocate(72, 8);
  _core_echo_joined(_p0, _p1, _p2, _p3, _p4, _p5, _p6, _p7, _p8, _p9, <i32>_area);
  const _result = _codec.load_tuple_shapes_Mixed_shapes_Floaty_option_f64(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "fails")
declare function _core_echo_fails(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function echo_fails(v: U64ListOrError_): U64ListOrError_ {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = v;
  if (_1.isOk) {
    _p0 = 0;
    const _2 = _memory.allocate(8, 4);
    _codec.store_list_u64(_2, _1.value);
    _p1 = load<i32>(_2);
    _p2 = load<i32>(_2, 4);
  }
  else {
    _p0 = 1;
    _p1 = <i32>_1.error;
  }
  const _area = _memory.allocate(12, 4);
  _core_echo_fails(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_result_list_u64_shapes_Error_(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "fails-softly")
declare function _core_echo_failsSoftly(_p0: i32, _p1: i32, _p2: i32, _area: i32): void;

export function echo_failsSoftly(v: string | null): string | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  let _p2: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 0;
  }
  else {
    _p0 = 1;
    _p1 = <i32>_memory.lowerString(_1);
    _p2 = _memory.loweredBytes;
  }
  const _area = _memory.allocate(12, 4);
  _core_echo_failsSoftly(_p0, _p1, _p2, <i32>_area);
  const _result = _codec.load_result_none_string(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "fails-mutely")
declare function _core_echo_failsMutely(_p0: i32, _p1: i32, _area: i32): void;

export function echo_failsMutely(v: Some<u8> | null): Some<u8> | null {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  let _p1: i32 = 0;
  const _1 = v;
  if (_1 === null) {
    _p0 = 1;
  }
  else {
    _p0 = 0;
    _p1 = <i32>_1.value;
  }
  const _area = _memory.allocate(2, 1);
  _core_echo_failsMutely(_p0, _p1, <i32>_area);
  const _result = _codec.load_result_u8_none(_area);
  _memory.release(_mark);
  return _result;
}

// @ts-ignore: decorator
@external("test:nasty/echo@2.0.1-rc.1", "fails-plainly")
declare function _core_echo_failsPlainly(_p0: i32): i32;

export function echo_failsPlainly(v: bool): bool {
  const _mark = _memory.mark();
  let _p0: i32 = 0;
  _p0 = (v ? 0 : 1);
  const _r = _core_echo_failsPlainly(_p0);
  const _result: bool = _r == 0;
  _memory.release(_mark);
  return _result;
}
