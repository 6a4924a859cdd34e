// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

import * as _memory from "plexus/memory";
import * as _codec from "./assembly/generated/codec";
import * as _store from "./assembly/generated/store";
import * as _echo from "./assembly/generated/echo";
import { Some } from "plexus/some";
import { PairOfF32Text, SingleOfOutcomeresult, SingleOfOutcomeresultstring, SingleOfOutcomeresultu32, SingleOfU64OrError_, TripleOfMixedFloatyOptionalF64, TripleOfU8TextU64, Tuple10OfU8TextTextTextTextTextTextTextU64Mixed, Tuple9OfTextTextTextTextTextTextTextU64F32, U64ListOrError_, U64OrError_ } from "./assembly/generated/compounds";
import { Array_ as store_Array_ } from "./assembly/generated/store";
import { Mixed as shapes_Mixed } from "./assembly/generated/shapes";
import { Error_ as shapes_Error_ } from "./assembly/generated/shapes";
import { Padded as shapes_Padded } from "./assembly/generated/shapes";
import { Record as shapes_Record } from "./assembly/generated/shapes";
import { EmptyLists as shapes_EmptyLists } from "./assembly/generated/shapes";
import { Wide as shapes_Wide } from "./assembly/generated/shapes";
import { Few as shapes_Few } from "./assembly/generated/shapes";
import { Sixteen as shapes_Sixteen } from "./assembly/generated/shapes";
import { Full as shapes_Full } from "./assembly/generated/shapes";
import { Floaty as shapes_Floaty } from "./assembly/generated/shapes";
export { cabi_realloc } from "plexus/memory";

export function store_load(_p0: i64, _p1: i32, _p2: i64): i32 {
  let _1: Some<u64> | null = null;
  if (_p1 == 1) {
    _1 = new Some<u64>(<u64>_p2);
  }
  const _2 = new store_Array_(<u64>_p0);
  _2.some = _1;
  const _a0: store_Array_ = _2;
  _memory.reset();
  const _result: store_Array_ = _store.load(_a0);
  const _area = _memory.allocate(24, 8);
  _codec.store_store_Array_(_area, _result);
  return <i32>_area;
}

export function store_load_post(_r: i32): void {
  _memory.finish();
}

export function store_store(_p0: i32, _p1: i64, _p2: i64, _p3: i32, _p4: f64, _p5: i32): i32 {
  let _1: shapes_Mixed | null = null;
  if (_p0 == 0) {
    _1 = shapes_Mixed.none();
  }
  if (_p0 == 1) {
    _1 = shapes_Mixed.small(<u8><i32>_p1);
  }
  if (_p0 == 2) {
    _1 = shapes_Mixed.large(<u64>_p1);
  }
  if (_p0 == 3) {
    _1 = shapes_Mixed.single(<f32>reinterpret<f32>(<i32>_p1));
  }
  if (_p0 == 4) {
    _1 = shapes_Mixed.double(<f64>reinterpret<f64>(_p1));
  }
  if (_p0 == 5) {
    _1 = shapes_Mixed.text(_memory.liftString(<usize><i32>_p1, <i32>_p2));
  }
  if (_p0 == 6) {
    _1 = shapes_Mixed.pair(new PairOfF32Text(<f32>reinterpret<f32>(<i32>_p1), _memory.liftString(<usize><i32>_p2, _p3)));
  }
  if (_p0 == 7) {
    let _2: Some<Some<u32> | null> | null = null;
    if (<i32>_p1 == 1) {
      let _3: Some<u32> | null = null;
      if (<i32>_p2 == 1) {
        _3 = new Some<u32>(<u32>_p3);
      }
      _2 = new Some<Some<u32> | null>(_3);
    }
    _1 = shapes_Mixed.deep(_2);
  }
  if (_p0 == 8) {
    _1 = shapes_Mixed.kind(<shapes_Error_><i32>_p1);
  }
  if (_p0 == 9) {
    const _4 = new shapes_Padded(<i32>_p1 != 0, <u64>_p2, <u16>_p3, <f64>_p4, <u8>_p5);
    _1 = shapes_Mixed.rec(_4);
  }
  const _a0: shapes_Mixed = (_1 as shapes_Mixed);
  _memory.reset();
  const _result: shapes_Mixed = _store.store(_a0);
  const _area = _memory.allocate(48, 8);
  _codec.store_shapes_Mixed(_area, _result);
  return <i32>_area;
}

export function store_store_post(_r: i32): void {
  _memory.finish();
}

export function store_memory(_p0: i32, _p1: i32): i32 {
  const _a0: string = _memory.liftString(<usize>_p0, _p1);
  _memory.reset();
  const _result: string = _store.memory(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_string(_area, _result);
  return <i32>_area;
}

export function store_memory_post(_r: i32): void {
  _memory.finish();
}

export function store_abort_(_p0: i32): i32 {
  const _a0: u32 = <u32>_p0;
  _memory.reset();
  const _result: u32 = _store.abort_(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function store_abort__post(_r: i32): void {
  _memory.finish();
}

export function store_delete_(_p0: i32): i32 {
  const _a0: bool = _p0 != 0;
  _memory.reset();
  const _result: bool = _store.delete_(_a0);
  let _r: i32 = 0;
  _r = (_result ? 1 : 0);
  return _r;
}

export function store_delete__post(_r: i32): void {
  _memory.finish();
}

export function echo_doBool(_p0: i32): i32 {
  const _a0: bool = _p0 != 0;
  _memory.reset();
  const _result: bool = _echo.doBool(_a0);
  let _r: i32 = 0;
  _r = (_result ? 1 : 0);
  return _r;
}

export function echo_doBool_post(_r: i32): void {
  _memory.finish();
}

export function echo_doU8(_p0: i32): i32 {
  const _a0: u8 = <u8>_p0;
  _memory.reset();
  const _result: u8 = _echo.doU8(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doU8_post(_r: i32): void {
  _memory.finish();
}

export function echo_doS8(_p0: i32): i32 {
  const _a0: i8 = <i8>_p0;
  _memory.reset();
  const _result: i8 = _echo.doS8(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doS8_post(_r: i32): void {
  _memory.finish();
}

export function echo_doU16(_p0: i32): i32 {
  const _a0: u16 = <u16>_p0;
  _memory.reset();
  const _result: u16 = _echo.doU16(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doU16_post(_r: i32): void {
  _memory.finish();
}

export function echo_doS16(_p0: i32): i32 {
  const _a0: i16 = <i16>_p0;
  _memory.reset();
  const _result: i16 = _echo.doS16(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doS16_post(_r: i32): void {
  _memory.finish();
}

export function echo_doU32(_p0: i32): i32 {
  const _a0: u32 = <u32>_p0;
  _memory.reset();
  const _result: u32 = _echo.doU32(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doU32_post(_r: i32): void {
  _memory.finish();
}

export function echo_doS32(_p0: i32): i32 {
  const _a0: i32 = <i32>_p0;
  _memory.reset();
  const _result: i32 = _echo.doS32(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doS32_post(_r: i32): void {
  _memory.finish();
}

export function echo_doU64(_p0: i64): i64 {
  const _a0: u64 = <u64>_p0;
  _memory.reset();
  const _result: u64 = _echo.doU64(_a0);
  let _r: i64 = 0;
  _r = <i64>_result;
  return _r;
}

export function echo_doU64_post(_r: i64): void {
  _memory.finish();
}

export function echo_doS64(_p0: i64): i64 {
  const _a0: i64 = <i64>_p0;
  _memory.reset();
  const _result: i64 = _echo.doS64(_a0);
  let _r: i64 = 0;
  _r = <i64>_result;
  return _r;
}

export function echo_doS64_post(_r: i64): void {
  _memory.finish();
}

export function echo_doF32(_p0: f32): f32 {
  const _a0: f32 = <f32>_p0;
  _memory.reset();
  const _result: f32 = _echo.doF32(_a0);
  let _r: f32 = 0;
  _r = <f32>_result;
  return _r;
}

export function echo_doF32_post(_r: f32): void {
  _memory.finish();
}

export function echo_doF64(_p0: f64): f64 {
  const _a0: f64 = <f64>_p0;
  _memory.reset();
  const _result: f64 = _echo.doF64(_a0);
  let _r: f64 = 0;
  _r = <f64>_result;
  return _r;
}

export function echo_doF64_post(_r: f64): void {
  _memory.finish();
}

export function echo_doChar(_p0: i32): i32 {
  const _a0: u32 = <u32>_p0;
  _memory.reset();
  const _result: u32 = _echo.doChar(_a0);
  let _r: i32 = 0;
  _r = <i32>_memory.char(_result);
  return _r;
}

export function echo_doChar_post(_r: i32): void {
  _memory.finish();
}

export function echo_doString(_p0: i32, _p1: i32): i32 {
  const _a0: string = _memory.liftString(<usize>_p0, _p1);
  _memory.reset();
  const _result: string = _echo.doString(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_string(_area, _result);
  return <i32>_area;
}

export function echo_doString_post(_r: i32): void {
  _memory.finish();
}

export function echo_doNothing(): void {
  _memory.reset();
  _echo.doNothing();
}

export function echo_doNothing_post(): void {
  _memory.finish();
}

export function echo_doRecord(_p0: i32, _p1: i64, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: i32): i32 {
  let _1: Some<i8> | null = null;
  if (_p3 == 1) {
    _1 = new Some<i8>(<i8>_p4);
  }
  const _2 = _memory.allocate(8, 4);
  store<i32>(_2, _p8);
  store<i32>(_2, _p9, 4);
  const _3 = new shapes_Record(<u8>_p0, <u64>_p1, _p2 != 0, _memory.liftString(<usize>_p5, _p6), <i16>_p7);
  _3.this_ = _1;
  _3.array = _codec.load_list_string(_2);
  const _a0: shapes_Record = _3;
  _memory.reset();
  const _result: shapes_Record = _echo.doRecord(_a0);
  const _area = _memory.allocate(40, 8);
  _codec.store_shapes_Record(_area, _result);
  return <i32>_area;
}

export function echo_doRecord_post(_r: i32): void {
  _memory.finish();
}

export function echo_doPadded(_p0: i32, _p1: i64, _p2: i32, _p3: f64, _p4: i32): i32 {
  const _1 = new shapes_Padded(_p0 != 0, <u64>_p1, <u16>_p2, <f64>_p3, <u8>_p4);
  const _a0: shapes_Padded = _1;
  _memory.reset();
  const _result: shapes_Padded = _echo.doPadded(_a0);
  const _area = _memory.allocate(40, 8);
  _codec.store_shapes_Padded(_area, _result);
  return <i32>_area;
}

export function echo_doPadded_post(_r: i32): void {
  _memory.finish();
}

export function echo_doEmptyLists(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _2 = _memory.allocate(8, 4);
  store<i32>(_2, _p2);
  store<i32>(_2, _p3, 4);
  const _3 = _memory.allocate(8, 4);
  store<i32>(_3, _p4);
  store<i32>(_3, _p5, 4);
  const _4 = new shapes_EmptyLists();
  _4.names = _codec.load_list_string(_1);
  _4.numbers = _codec.load_list_u64(_2);
  _4.nested = _codec.load_list_list_string(_3);
  const _a0: shapes_EmptyLists = _4;
  _memory.reset();
  const _result: shapes_EmptyLists = _echo.doEmptyLists(_a0);
  const _area = _memory.allocate(24, 4);
  _codec.store_shapes_EmptyLists(_area, _result);
  return <i32>_area;
}

export function echo_doEmptyLists_post(_r: i32): void {
  _memory.finish();
}

export function echo_doError(_p0: i32): i32 {
  const _a0: shapes_Error_ = <shapes_Error_>_p0;
  _memory.reset();
  const _result: shapes_Error_ = _echo.doError(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doError_post(_r: i32): void {
  _memory.finish();
}

export function echo_doWide(_p0: i32): i32 {
  const _a0: shapes_Wide = <shapes_Wide>_p0;
  _memory.reset();
  const _result: shapes_Wide = _echo.doWide(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doWide_post(_r: i32): void {
  _memory.finish();
}

export function echo_doFew(_p0: i32): i32 {
  const _a0: shapes_Few = <shapes_Few>_p0;
  _memory.reset();
  const _result: shapes_Few = _echo.doFew(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doFew_post(_r: i32): void {
  _memory.finish();
}

export function echo_doSixteen(_p0: i32): i32 {
  const _a0: shapes_Sixteen = <shapes_Sixteen>_p0;
  _memory.reset();
  const _result: shapes_Sixteen = _echo.doSixteen(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doSixteen_post(_r: i32): void {
  _memory.finish();
}

export function echo_doFull(_p0: i32): i32 {
  const _a0: shapes_Full = <shapes_Full>_p0;
  _memory.reset();
  const _result: shapes_Full = _echo.doFull(_a0);
  let _r: i32 = 0;
  _r = <i32>_result;
  return _r;
}

export function echo_doFull_post(_r: i32): void {
  _memory.finish();
}

export function echo_doMixed(_p0: i32, _p1: i64, _p2: i64, _p3: i32, _p4: f64, _p5: i32): i32 {
  let _1: shapes_Mixed | null = null;
  if (_p0 == 0) {
    _1 = shapes_Mixed.none();
  }
  if (_p0 == 1) {
    _1 = shapes_Mixed.small(<u8><i32>_p1);
  }
  if (_p0 == 2) {
    _1 = shapes_Mixed.large(<u64>_p1);
  }
  if (_p0 == 3) {
    _1 = shapes_Mixed.single(<f32>reinterpret<f32>(<i32>_p1));
  }
  if (_p0 == 4) {
    _1 = shapes_Mixed.double(<f64>reinterpret<f64>(_p1));
  }
  if (_p0 == 5) {
    _1 = shapes_Mixed.text(_memory.liftString(<usize><i32>_p1, <i32>_p2));
  }
  if (_p0 == 6) {
    _1 = shapes_Mixed.pair(new PairOfF32Text(<f32>reinterpret<f32>(<i32>_p1), _memory.liftString(<usize><i32>_p2, _p3)));
  }
  if (_p0 == 7) {
    let _2: Some<Some<u32> | null> | null = null;
    if (<i32>_p1 == 1) {
      let _3: Some<u32> | null = null;
      if (<i32>_p2 == 1) {
        _3 = new Some<u32>(<u32>_p3);
      }
      _2 = new Some<Some<u32> | null>(_3);
    }
    _1 = shapes_Mixed.deep(_2);
  }
  if (_p0 == 8) {
    _1 = shapes_Mixed.kind(<shapes_Error_><i32>_p1);
  }
  if (_p0 == 9) {
    const _4 = new shapes_Padded(<i32>_p1 != 0, <u64>_p2, <u16>_p3, <f64>_p4, <u8>_p5);
    _1 = shapes_Mixed.rec(_4);
  }
  const _a0: shapes_Mixed = (_1 as shapes_Mixed);
  _memory.reset();
  const _result: shapes_Mixed = _echo.doMixed(_a0);
  const _area = _memory.allocate(48, 8);
  _codec.store_shapes_Mixed(_area, _result);
  return <i32>_area;
}

export function echo_doMixed_post(_r: i32): void {
  _memory.finish();
}

export function echo_doFloaty(_p0: i32, _p1: i32): i32 {
  let _1: shapes_Floaty | null = null;
  if (_p0 == 0) {
    _1 = shapes_Floaty.i(<u32>_p1);
  }
  if (_p0 == 1) {
    _1 = shapes_Floaty.f(<f32>reinterpret<f32>(_p1));
  }
  const _a0: shapes_Floaty = (_1 as shapes_Floaty);
  _memory.reset();
  const _result: shapes_Floaty = _echo.doFloaty(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_shapes_Floaty(_area, _result);
  return <i32>_area;
}

export function echo_doFloaty_post(_r: i32): void {
  _memory.finish();
}

export function echo_doIds(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<u64> = _codec.load_list_u64(_1);
  _memory.reset();
  const _result: Array<u64> = _echo.doIds(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_u64(_area, _result);
  return <i32>_area;
}

export function echo_doIds_post(_r: i32): void {
  _memory.finish();
}

export function echo_doMaybe(_p0: i32, _p1: i32, _p2: i32): i32 {
  let _1: string | null = null;
  if (_p0 == 1) {
    _1 = _memory.liftString(<usize>_p1, _p2);
  }
  const _a0: string | null = _1;
  _memory.reset();
  const _result: string | null = _echo.doMaybe(_a0);
  const _area = _memory.allocate(12, 4);
  _codec.store_option_string(_area, _result);
  return <i32>_area;
}

export function echo_doMaybe_post(_r: i32): void {
  _memory.finish();
}

export function echo_doNestedOption(_p0: i32, _p1: i32, _p2: i32): i32 {
  let _1: Some<Some<u32> | null> | null = null;
  if (_p0 == 1) {
    let _2: Some<u32> | null = null;
    if (_p1 == 1) {
      _2 = new Some<u32>(<u32>_p2);
    }
    _1 = new Some<Some<u32> | null>(_2);
  }
  const _a0: Some<Some<u32> | null> | null = _1;
  _memory.reset();
  const _result: Some<Some<u32> | null> | null = _echo.doNestedOption(_a0);
  const _area = _memory.allocate(12, 4);
  _codec.store_option_option_u32(_area, _result);
  return <i32>_area;
}

export function echo_doNestedOption_post(_r: i32): void {
  _memory.finish();
}

export function echo_doDeepOption(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32): i32 {
  let _1: Some<Some<string | null> | null> | null = null;
  if (_p0 == 1) {
    let _2: Some<string | null> | null = null;
    if (_p1 == 1) {
      let _3: string | null = null;
      if (_p2 == 1) {
        _3 = _memory.liftString(<usize>_p3, _p4);
      }
      _2 = new Some<string | null>(_3);
    }
    _1 = new Some<Some<string | null> | null>(_2);
  }
  const _a0: Some<Some<string | null> | null> | null = _1;
  _memory.reset();
  const _result: Some<Some<string | null> | null> | null = _echo.doDeepOption(_a0);
  const _area = _memory.allocate(20, 4);
  _codec.store_option_option_option_string(_area, _result);
  return <i32>_area;
}

export function echo_doDeepOption_post(_r: i32): void {
  _memory.finish();
}

export function echo_doBytes(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<u8> = _codec.load_list_u8(_1);
  _memory.reset();
  const _result: Array<u8> = _echo.doBytes(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_u8(_area, _result);
  return <i32>_area;
}

export function echo_doBytes_post(_r: i32): void {
  _memory.finish();
}

export function echo_doBools(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<bool> = _codec.load_list_bool(_1);
  _memory.reset();
  const _result: Array<bool> = _echo.doBools(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_bool(_area, _result);
  return <i32>_area;
}

export function echo_doBools_post(_r: i32): void {
  _memory.finish();
}

export function echo_doChars(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<u32> = _codec.load_list_char(_1);
  _memory.reset();
  const _result: Array<u32> = _echo.doChars(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_char(_area, _result);
  return <i32>_area;
}

export function echo_doChars_post(_r: i32): void {
  _memory.finish();
}

export function echo_doFloats(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<f64> = _codec.load_list_f64(_1);
  _memory.reset();
  const _result: Array<f64> = _echo.doFloats(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_f64(_area, _result);
  return <i32>_area;
}

export function echo_doFloats_post(_r: i32): void {
  _memory.finish();
}

export function echo_doLists(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<Array<string | null>> = _codec.load_list_list_option_string(_1);
  _memory.reset();
  const _result: Array<Array<string | null>> = _echo.doLists(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_list_option_string(_area, _result);
  return <i32>_area;
}

export function echo_doLists_post(_r: i32): void {
  _memory.finish();
}

export function echo_doVariants(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<shapes_Mixed> = _codec.load_list_shapes_Mixed(_1);
  _memory.reset();
  const _result: Array<shapes_Mixed> = _echo.doVariants(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_shapes_Mixed(_area, _result);
  return <i32>_area;
}

export function echo_doVariants_post(_r: i32): void {
  _memory.finish();
}

export function echo_doTuples(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<TripleOfU8TextU64> = _codec.load_list_tuple_u8_string_u64(_1);
  _memory.reset();
  const _result: Array<TripleOfU8TextU64> = _echo.doTuples(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_tuple_u8_string_u64(_area, _result);
  return <i32>_area;
}

export function echo_doTuples_post(_r: i32): void {
  _memory.finish();
}

export function echo_doOutcomes(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<U64ListOrError_> = _codec.load_list_result_list_u64_shapes_Error_(_1);
  _memory.reset();
  const _result: Array<U64ListOrError_> = _echo.doOutcomes(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_result_list_u64_shapes_Error_(_area, _result);
  return <i32>_area;
}

export function echo_doOutcomes_post(_r: i32): void {
  _memory.finish();
}

export function echo_doFlags(_p0: i32, _p1: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p0);
  store<i32>(_1, _p1, 4);
  const _a0: Array<shapes_Full> = _codec.load_list_shapes_Full(_1);
  _memory.reset();
  const _result: Array<shapes_Full> = _echo.doFlags(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_list_shapes_Full(_area, _result);
  return <i32>_area;
}

export function echo_doFlags_post(_r: i32): void {
  _memory.finish();
}

export function echo_doResult(_p0: i32, _p1: i64): i32 {
  let _1: U64OrError_ | null = null;
  if (_p0 == 0) {
    _1 = U64OrError_.ok(<u64>_p1);
  }
  if (_p0 == 1) {
    _1 = U64OrError_.err(<shapes_Error_><i32>_p1);
  }
  const _a0: U64OrError_ = (_1 as U64OrError_);
  _memory.reset();
  const _result: SingleOfU64OrError_ = _echo.doResult(_a0);
  const _area = _memory.allocate(16, 8);
  _codec.store_tuple_result_u64_shapes_Error_(_area, _result);
  return <i32>_area;
}

export function echo_doResult_post(_r: i32): void {
  _memory.finish();
}

export function echo_doResultOk(_p0: i32, _p1: i32, _p2: i32): i32 {
  let _1: string | null = null;
  if (_p0 == 0) {
    _1 = _memory.liftString(<usize>_p1, _p2);
  }
  const _a0: string | null = _1;
  _memory.reset();
  const _result: SingleOfOutcomeresultstring = _echo.doResultOk(_a0);
  const _area = _memory.allocate(12, 4);
  _codec.store_tuple_result_string_none(_area, _result);
  return <i32>_area;
}

export function echo_doResultOk_post(_r: i32): void {
  _memory.finish();
}

export function echo_doResultErr(_p0: i32, _p1: i32): i32 {
  let _1: Some<u32> | null = null;
  if (_p0 == 1) {
    _1 = new Some<u32>(<u32>_p1);
  }
  const _a0: Some<u32> | null = _1;
  _memory.reset();
  const _result: SingleOfOutcomeresultu32 = _echo.doResultErr(_a0);
  const _area = _memory.allocate(8, 4);
  _codec.store_tuple_result_none_u32(_area, _result);
  return <i32>_area;
}

export function echo_doResultErr_post(_r: i32): void {
  _memory.finish();
}

export function echo_doResultNone(_p0: i32): i32 {
  const _a0: bool = _p0 == 0;
  _memory.reset();
  const _result: SingleOfOutcomeresult = _echo.doResultNone(_a0);
  let _r: i32 = 0;
  const _1 = _result;
  _r = (_1.f0 ? 0 : 1);
  return _r;
}

export function echo_doResultNone_post(_r: i32): void {
  _memory.finish();
}

export function echo_doOptionOfResults(_p0: i32, _p1: i32, _p2: i32, _p3: i32): i32 {
  let _1: Some<string | null> | null = null;
  if (_p0 == 1) {
    let _2: string | null = null;
    if (_p1 == 1) {
      _2 = _memory.liftString(<usize>_p2, _p3);
    }
    _1 = new Some<string | null>(_2);
  }
  const _a0: Some<string | null> | null = _1;
  _memory.reset();
  const _result: Some<string | null> | null = _echo.doOptionOfResults(_a0);
  const _area = _memory.allocate(16, 4);
  _codec.store_option_result_none_string(_area, _result);
  return <i32>_area;
}

export function echo_doOptionOfResults_post(_r: i32): void {
  _memory.finish();
}

export function echo_inRegisters(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: i32, _p10: i32, _p11: i32, _p12: i32, _p13: i32, _p14: i64, _p15: f32): i32 {
  const _a0: string = _memory.liftString(<usize>_p0, _p1);
  const _a1: string = _memory.liftString(<usize>_p2, _p3);
  const _a2: string = _memory.liftString(<usize>_p4, _p5);
  const _a3: string = _memory.liftString(<usize>_p6, _p7);
  const _a4: string = _memory.liftString(<usize>_p8, _p9);
  const _a5: string = _memory.liftString(<usize>_p10, _p11);
  const _a6: string = _memory.liftString(<usize>_p12, _p13);
  const _a7: u64 = <u64>_p14;
  const _a8: f32 = <f32>_p15;
  _memory.reset();
  const _result: Tuple9OfTextTextTextTextTextTextTextU64F32 = _echo.inRegisters(_a0, _a1, _a2, _a3, _a4, _a5, _a6, _a7, _a8);
  const _area = _memory.allocate(72, 8);
  _codec.store_tuple_string_string_string_string_string_string_string_u64_f32(_area, _result);
  return <i32>_area;
}

export function echo_inRegisters_post(_r: i32): void {
  _memory.finish();
}

export function echo_inMemory(_params: i32): i32 {
  const _a0 = _codec.load_u8(_params + 0);
  const _a1 = _codec.load_string(_params + 4);
  const _a2 = _codec.load_string(_params + 12);
  const _a3 = _codec.load_string(_params + 20);
  const _a4 = _codec.load_string(_params + 28);
  const _a5 = _codec.load_string(_params + 36);
  const _a6 = _codec.load_string(_params + 44);
  const _a7 = _codec.load_string(_params + 52);
  const _a8 = _codec.load_u64(_params + 64);
  const _a9 = _codec.load_shapes_Mixed(_params + 72);
  _memory.reset();
  const _result: Tuple10OfU8TextTextTextTextTextTextTextU64Mixed = _echo.inMemory(_a0, _a1, _a2, _a3, _a4, _a5, _a6, _a7, _a8, _a9);
  const _area = _memory.allocate(120, 8);
  _codec.store_tuple_u8_string_string_string_string_string_string_string_u64_shapes_Mixed(_area, _result);
  return <i32>_area;
}

export function echo_inMemory_post(_r: i32): void {
  _memory.finish();
}

export function echo_joined(_p0: i32, _p1: i64, _p2: i64, _p3: i32, _p4: f64, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: f64): i32 {
  let _1: shapes_Mixed | null = null;
  if (_p0 == 0) {
    _1 = shapes_Mixed.none();
  }
  if (_p0 == 1) {
    _1 = shapes_Mixed.small(<u8><i32>_p1);
  }
  if (_p0 == 2) {
    _1 = shapes_Mixed.large(<u64>_p1);
  }
  if (_p0 == 3) {
    _1 = shapes_Mixed.single(<f32>reinterpret<f32>(<i32>_p1));
  }
  if (_p0 == 4) {
    _1 = shapes_Mixed.double(<f64>reinterpret<f64>(_p1));
  }
  if (_p0 == 5) {
    _1 = shapes_Mixed.text(_memory.liftString(<usize><i32>_p1, <i32>_p2));
  }
  if (_p0 == 6) {
    _1 = shapes_Mixed.pair(new PairOfF32Text(<f32>reinterpret<f32>(<i32>_p1), _memory.liftString(<usize><i32>_p2, _p3)));
  }
  if (_p0 == 7) {
    let _2: Some<Some<u32> | null> | null = null;
    if (<i32>_p1 == 1) {
      let _3: Some<u32> | null = null;
      if (<i32>_p2 == 1) {
        _3 = new Some<u32>(<u32>_p3);
      }
      _2 = new Some<Some<u32> | null>(_3);
    }
    _1 = shapes_Mixed.deep(_2);
  }
  if (_p0 == 8) {
    _1 = shapes_Mixed.kind(<shapes_Error_><i32>_p1);
  }
  if (_p0 == 9) {
    const _4 = new shapes_Padded(<i32>_p1 != 0, <u64>_p2, <u16>_p3, <f64>_p4, <u8>_p5);
    _1 = shapes_Mixed.rec(_4);
  }
  const _a0: shapes_Mixed = (_1 as shapes_Mixed);
  let _5: shapes_Floaty | null = null;
  if (_p6 == 0) {
    _5 = shapes_Floaty.i(<u32>_p7);
  }
  if (_p6 == 1) {
    _5 = shapes_Floaty.f(<f32>reinterpret<f32>(_p7));
  }
  const _a1: shapes_Floaty = (_5 as shapes_Floaty);
  let _6: Some<f64> | null = null;
  if (_p8 == 1) {
    _6 = new Some<f64>(<f64>_p9);
  }
  const _a2: Some<f64> | null = _6;
  _memory.reset();
  const _result: TripleOfMixedFloatyOptionalF64 = _echo.joined(_a0, _a1, _a2);
  const _area = _memory.allocate(72, 8);
  _codec.store_tuple_shapes_Mixed_shapes_Floaty_option_f64(_area, _result);
  return <i32>_area;
}

export function echo_joined_post(_r: i32): void {
  _memory.finish();
}

export function echo_fails(_p0: i32, _p1: i32, _p2: i32): i32 {
  let _1: U64ListOrError_ | null = null;
  if (_p0 == 0) {
    const _2 = _memory.allocate(8, 4);
    store<i32>(_2, _p1);
    store<i32>(_2, _p2, 4);
    _1 = U64ListOrError_.ok(_codec.load_list_u64(_2));
  }
  if (_p0 == 1) {
    _1 = U64ListOrError_.err(<shapes_Error_>_p1);
  }
  const _a0: U64ListOrError_ = (_1 as U64ListOrError_);
  _memory.reset();
  const _result: U64ListOrError_ = _echo.fails(_a0);
  const _area = _memory.allocate(12, 4);
  _codec.store_result_list_u64_shapes_Error_(_area, _result);
  return <i32>_area;
}

export function echo_fails_post(_r: i32): void {
  _memory.finish();
}

export function echo_failsSoftly(_p0: i32, _p1: i32, _p2: i32): i32 {
  let _1: string | null = null;
  if (_p0 == 1) {
    _1 = _memory.liftString(<usize>_p1, _p2);
  }
  const _a0: string | null = _1;
  _memory.reset();
  const _result: string | null = _echo.failsSoftly(_a0);
  const _area = _memory.allocate(12, 4);
  _codec.store_result_none_string(_area, _result);
  return <i32>_area;
}

export function echo_failsSoftly_post(_r: i32): void {
  _memory.finish();
}

export function echo_failsMutely(_p0: i32, _p1: i32): i32 {
  let _1: Some<u8> | null = null;
  if (_p0 == 0) {
    _1 = new Some<u8>(<u8>_p1);
  }
  const _a0: Some<u8> | null = _1;
  _memory.reset();
  const _result: Some<u8> | null = _echo.failsMutely(_a0);
  const _area = _memory.allocate(2, 1);
  _codec.store_result_u8_none(_area, _result);
  return <i32>_area;
}

export function echo_failsMutely_post(_r: i32): void {
  _memory.finish();
}

export function echo_failsPlainly(_p0: i32): i32 {
  const _a0: bool = _p0 == 0;
  _memory.reset();
  const _result: bool = _echo.failsPlainly(_a0);
  let _r: i32 = 0;
  _r = (_result ? 0 : 1);
  return _r;
}

export function echo_failsPlainly_post(_r: i32): void {
  _memory.finish();
}
