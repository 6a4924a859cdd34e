// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

import * as _memory from "plexus/memory";
import * as _codec from "plexus/abi/codec";
import * as _plugin from "./assembly/index";
import { SuccessOrFault } from "plexus/abi/compounds";
import { Fault as types_Fault } from "plexus/abi/types";
import { Call as types_Call } from "plexus/abi/types";
import { Network as types_Network } from "plexus/abi/types";
import { GcRequest as types_GcRequest } from "plexus/abi/types";
import { StatusRequest as types_StatusRequest } from "plexus/abi/types";
export { cabi_realloc } from "plexus/memory";

export function plugin_add(_params: i32): i32 {
  const _a0 = _codec.load_types_AttachmentRequest(_params + 0);
  _memory.reset();
  const _result: SuccessOrFault = _plugin.add(_a0);
  const _area = _memory.allocate(68, 4);
  _codec.store_result_types_Success_types_Fault(_area, _result);
  return <i32>_area;
}

export function plugin_add_post(_r: i32): void {
  _memory.finish();
}

export function plugin_del(_params: i32): i32 {
  const _a0 = _codec.load_types_AttachmentRequest(_params + 0);
  _memory.reset();
  const _result: types_Fault | null = _plugin.del(_a0);
  const _area = _memory.allocate(28, 4);
  _codec.store_result_none_types_Fault(_area, _result);
  return <i32>_area;
}

export function plugin_del_post(_r: i32): void {
  _memory.finish();
}

export function plugin_check(_params: i32): i32 {
  const _a0 = _codec.load_types_AttachmentRequest(_params + 0);
  _memory.reset();
  const _result: types_Fault | null = _plugin.check(_a0);
  const _area = _memory.allocate(28, 4);
  _codec.store_result_none_types_Fault(_area, _result);
  return <i32>_area;
}

export function plugin_check_post(_r: i32): void {
  _memory.finish();
}

export function plugin_gc(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32, _p9: i32, _p10: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p1);
  store<i32>(_1, _p2, 4);
  const _2 = new types_Call(<u32>_p0);
  _2.granted = _codec.load_list_string(_1);
  const _3 = new types_Network(_memory.liftString(<usize>_p3, _p4), _memory.liftString(<usize>_p5, _p6), _memory.liftString(<usize>_p7, _p8));
  const _4 = _memory.allocate(8, 4);
  store<i32>(_4, _p9);
  store<i32>(_4, _p10, 4);
  const _5 = new types_GcRequest(_2, _3);
  _5.valid = _codec.load_list_types_AttachmentId(_4);
  const _a0: types_GcRequest = _5;
  _memory.reset();
  const _result: types_Fault | null = _plugin.gc(_a0);
  const _area = _memory.allocate(28, 4);
  _codec.store_result_none_types_Fault(_area, _result);
  return <i32>_area;
}

export function plugin_gc_post(_r: i32): void {
  _memory.finish();
}

export function plugin_status(_p0: i32, _p1: i32, _p2: i32, _p3: i32, _p4: i32, _p5: i32, _p6: i32, _p7: i32, _p8: i32): i32 {
  const _1 = _memory.allocate(8, 4);
  store<i32>(_1, _p1);
  store<i32>(_1, _p2, 4);
  const _2 = new types_Call(<u32>_p0);
  _2.granted = _codec.load_list_string(_1);
  const _3 = new types_Network(_memory.liftString(<usize>_p3, _p4), _memory.liftString(<usize>_p5, _p6), _memory.liftString(<usize>_p7, _p8));
  const _4 = new types_StatusRequest(_2, _3);
  const _a0: types_StatusRequest = _4;
  _memory.reset();
  const _result: types_Fault | null = _plugin.status(_a0);
  const _area = _memory.allocate(28, 4);
  _codec.store_result_none_types_Fault(_area, _result);
  return <i32>_area;
}

export function plugin_status_post(_r: i32): void {
  _memory.finish();
}
