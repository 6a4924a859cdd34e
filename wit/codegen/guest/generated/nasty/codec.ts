// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

import * as _memory from "plexus/memory";
import { Some } from "plexus/some";
import { PairOfF32Text, SingleOfOutcomeresultstring, SingleOfOutcomeresultu32, SingleOfU64OrError_, TripleOfMixedFloatyOptionalF64, TripleOfU8TextU64, Tuple10OfU8TextTextTextTextTextTextTextU64Mixed, Tuple9OfTextTextTextTextTextTextTextU64F32, U64ListOrError_, U64OrError_ } from "./compounds";
import { Array_ as store_Array_ } from "./store";
import { Mixed as shapes_Mixed } from "./shapes";
import { Error_ as shapes_Error_ } from "./shapes";
import { Record as shapes_Record } from "./shapes";
import { Padded as shapes_Padded } from "./shapes";
import { EmptyLists as shapes_EmptyLists } from "./shapes";
import { Floaty as shapes_Floaty } from "./shapes";
import { Full as shapes_Full } from "./shapes";

export function load_store_Array_(at: usize): store_Array_ {
  const value = new store_Array_(load<u64>(at));
  value.some = load_option_u64(at + 8);
  return value;
}

export function store_store_Array_(at: usize, value: store_Array_): void {
  store<u64>(at, value.map);
  store_option_u64(at + 8, value.some);
}

export function load_shapes_Mixed(at: usize): shapes_Mixed {
  const kind = load<u8>(at);
  if (kind == 0) return shapes_Mixed.none();
  if (kind == 1) return shapes_Mixed.small(load<u8>(at + 8));
  if (kind == 2) return shapes_Mixed.large(load<u64>(at + 8));
  if (kind == 3) return shapes_Mixed.single(load<f32>(at + 8));
  if (kind == 4) return shapes_Mixed.double(load<f64>(at + 8));
  if (kind == 5) return shapes_Mixed.text(_memory.loadString(at + 8));
  if (kind == 6) return shapes_Mixed.pair(load_tuple_f32_string(at + 8));
  if (kind == 7) return shapes_Mixed.deep(load_option_option_u32(at + 8));
  if (kind == 8) return shapes_Mixed.kind(<shapes_Error_>load<u8>(at + 8));
  return shapes_Mixed.rec(load_shapes_Padded(at + 8));
}

export function store_shapes_Mixed(at: usize, value: shapes_Mixed): void {
  store<u8>(at, <u8>value.kind);
  if (value.kind == 1) { store<u8>(at + 8, value.asSmall); }
  if (value.kind == 2) { store<u64>(at + 8, value.asLarge); }
  if (value.kind == 3) { store<f32>(at + 8, value.asSingle); }
  if (value.kind == 4) { store<f64>(at + 8, value.asDouble); }
  if (value.kind == 5) { _memory.storeString(at + 8, value.asText); }
  if (value.kind == 6) { store_tuple_f32_string(at + 8, value.asPair); }
  if (value.kind == 7) { store_option_option_u32(at + 8, value.asDeep); }
  if (value.kind == 8) { store<u8>(at + 8, <u8>value.asKind); }
  if (value.kind == 9) { store_shapes_Padded(at + 8, value.asRec); }
}

export function load_string(at: usize): string {
  return _memory.loadString(at);
}

export function store_string(at: usize, value: string): void {
  _memory.storeString(at, value);
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

export function load_shapes_Record(at: usize): shapes_Record {
  const value = new shapes_Record(load<u8>(at), load<u64>(at + 8), load<u8>(at + 16) != 0, _memory.loadString(at + 20), load<i16>(at + 28));
  value.this_ = load_option_s8(at + 17);
  value.array = load_list_string(at + 32);
  return value;
}

export function store_shapes_Record(at: usize, value: shapes_Record): void {
  store<u8>(at, value.interface_);
  store<u64>(at + 8, value.constructor_);
  store<u8>(at + 16, value.new_ ? 1 : 0);
  store_option_s8(at + 17, value.this_);
  _memory.storeString(at + 20, value.string);
  store<i16>(at + 28, value.type);
  store_list_string(at + 32, value.array);
}

export function load_shapes_Padded(at: usize): shapes_Padded {
  const value = new shapes_Padded(load<u8>(at) != 0, load<u64>(at + 8), load<u16>(at + 16), load<f64>(at + 24), load<u8>(at + 32));
  return value;
}

export function store_shapes_Padded(at: usize, value: shapes_Padded): void {
  store<u8>(at, value.a ? 1 : 0);
  store<u64>(at + 8, value.b);
  store<u16>(at + 16, value.c);
  store<f64>(at + 24, value.d);
  store<u8>(at + 32, value.e);
}

export function load_list_u64(at: usize): Array<u64> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<u64>(length);
  memory.copy(list.dataStart, from, <usize>length * 8);
  return list;
}

export function store_list_u64(at: usize, value: Array<u64>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 8, 8));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  memory.copy(to, value.dataStart, <usize>length * 8);
}

export function load_list_list_string(at: usize): Array<Array<string>> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<Array<string>>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_list_string(from + <usize>i * 8);
  }
  return list;
}

export function store_list_list_string(at: usize, value: Array<Array<string>>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 8, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_list_string(to, value[i]);
    to += 8;
  }
}

export function load_shapes_EmptyLists(at: usize): shapes_EmptyLists {
  const value = new shapes_EmptyLists();
  value.names = load_list_string(at);
  value.numbers = load_list_u64(at + 8);
  value.nested = load_list_list_string(at + 16);
  return value;
}

export function store_shapes_EmptyLists(at: usize, value: shapes_EmptyLists): void {
  store_list_string(at, value.names);
  store_list_u64(at + 8, value.numbers);
  store_list_list_string(at + 16, value.nested);
}

export function load_shapes_Floaty(at: usize): shapes_Floaty {
  const kind = load<u8>(at);
  if (kind == 0) return shapes_Floaty.i(load<u32>(at + 4));
  return shapes_Floaty.f(load<f32>(at + 4));
}

export function store_shapes_Floaty(at: usize, value: shapes_Floaty): void {
  store<u8>(at, <u8>value.kind);
  if (value.kind == 0) { store<u32>(at + 4, value.asI); }
  if (value.kind == 1) { store<f32>(at + 4, value.asF); }
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

export function load_option_option_u32(at: usize): Some<Some<u32> | null> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<Some<u32> | null>(load_option_u32(at + 4));
}

export function store_option_option_u32(at: usize, value: Some<Some<u32> | null> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_option_u32(at + 4, value.value);
}

export function load_option_option_option_string(at: usize): Some<Some<string | null> | null> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<Some<string | null> | null>(load_option_option_string(at + 4));
}

export function store_option_option_option_string(at: usize, value: Some<Some<string | null> | null> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_option_option_string(at + 4, value.value);
}

export function load_list_u8(at: usize): Array<u8> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<u8>(length);
  memory.copy(list.dataStart, from, <usize>length * 1);
  return list;
}

export function store_list_u8(at: usize, value: Array<u8>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 1, 1));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  memory.copy(to, value.dataStart, <usize>length * 1);
}

export function load_list_bool(at: usize): Array<bool> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<bool>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load<u8>(from + <usize>i * 1) != 0;
  }
  return list;
}

export function store_list_bool(at: usize, value: Array<bool>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 1, 1));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store<u8>(to, value[i] ? 1 : 0);
    to += 1;
  }
}

export function load_list_char(at: usize): Array<u32> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<u32>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load<u32>(from + <usize>i * 4);
  }
  return list;
}

export function store_list_char(at: usize, value: Array<u32>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 4, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store<u32>(to, _memory.char(value[i]));
    to += 4;
  }
}

export function load_list_f64(at: usize): Array<f64> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<f64>(length);
  memory.copy(list.dataStart, from, <usize>length * 8);
  return list;
}

export function store_list_f64(at: usize, value: Array<f64>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 8, 8));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  memory.copy(to, value.dataStart, <usize>length * 8);
}

export function load_list_list_option_string(at: usize): Array<Array<string | null>> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<Array<string | null>>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_list_option_string(from + <usize>i * 8);
  }
  return list;
}

export function store_list_list_option_string(at: usize, value: Array<Array<string | null>>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 8, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_list_option_string(to, value[i]);
    to += 8;
  }
}

export function load_list_shapes_Mixed(at: usize): Array<shapes_Mixed> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<shapes_Mixed>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_shapes_Mixed(from + <usize>i * 48);
  }
  return list;
}

export function store_list_shapes_Mixed(at: usize, value: Array<shapes_Mixed>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 48, 8));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_shapes_Mixed(to, value[i]);
    to += 48;
  }
}

export function load_list_tuple_u8_string_u64(at: usize): Array<TripleOfU8TextU64> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<TripleOfU8TextU64>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_tuple_u8_string_u64(from + <usize>i * 24);
  }
  return list;
}

export function store_list_tuple_u8_string_u64(at: usize, value: Array<TripleOfU8TextU64>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 24, 8));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_tuple_u8_string_u64(to, value[i]);
    to += 24;
  }
}

export function load_list_result_list_u64_shapes_Error_(at: usize): Array<U64ListOrError_> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<U64ListOrError_>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_result_list_u64_shapes_Error_(from + <usize>i * 12);
  }
  return list;
}

export function store_list_result_list_u64_shapes_Error_(at: usize, value: Array<U64ListOrError_>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 12, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_result_list_u64_shapes_Error_(to, value[i]);
    to += 12;
  }
}

export function load_list_shapes_Full(at: usize): Array<shapes_Full> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<shapes_Full>(length);
  for (let i = 0; i < length; i++) {
    list[i] = <shapes_Full>load<u32>(from + <usize>i * 4);
  }
  return list;
}

export function store_list_shapes_Full(at: usize, value: Array<shapes_Full>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 4, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store<u32>(to, <u32>value[i]);
    to += 4;
  }
}

export function load_tuple_result_u64_shapes_Error_(at: usize): SingleOfU64OrError_ {
  return new SingleOfU64OrError_(load_result_u64_shapes_Error_(at));
}

export function store_tuple_result_u64_shapes_Error_(at: usize, value: SingleOfU64OrError_): void {
  store_result_u64_shapes_Error_(at, value.f0);
}

export function load_tuple_result_string_none(at: usize): SingleOfOutcomeresultstring {
  return new SingleOfOutcomeresultstring(load_result_string_none(at));
}

export function store_tuple_result_string_none(at: usize, value: SingleOfOutcomeresultstring): void {
  store_result_string_none(at, value.f0);
}

export function load_tuple_result_none_u32(at: usize): SingleOfOutcomeresultu32 {
  return new SingleOfOutcomeresultu32(load_result_none_u32(at));
}

export function store_tuple_result_none_u32(at: usize, value: SingleOfOutcomeresultu32): void {
  store_result_none_u32(at, value.f0);
}

export function load_option_result_none_string(at: usize): Some<string | null> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<string | null>(load_result_none_string(at + 4));
}

export function store_option_result_none_string(at: usize, value: Some<string | null> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_result_none_string(at + 4, value.value);
}

export function load_tuple_string_string_string_string_string_string_string_u64_f32(at: usize): Tuple9OfTextTextTextTextTextTextTextU64F32 {
  return new Tuple9OfTextTextTextTextTextTextTextU64F32(_memory.loadString(at), _memory.loadString(at + 8), _memory.loadString(at + 16), _memory.loadString(at + 24), _memory.loadString(at + 32), _memory.loadString(at + 40), _memory.loadString(at + 48), load<u64>(at + 56), load<f32>(at + 64));
}

export function store_tuple_string_string_string_string_string_string_string_u64_f32(at: usize, value: Tuple9OfTextTextTextTextTextTextTextU64F32): void {
  _memory.storeString(at, value.f0);
  _memory.storeString(at + 8, value.f1);
  _memory.storeString(at + 16, value.f2);
  _memory.storeString(at + 24, value.f3);
  _memory.storeString(at + 32, value.f4);
  _memory.storeString(at + 40, value.f5);
  _memory.storeString(at + 48, value.f6);
  store<u64>(at + 56, value.f7);
  store<f32>(at + 64, value.f8);
}

export function load_u8(at: usize): u8 {
  return load<u8>(at);
}

export function store_u8(at: usize, value: u8): void {
  store<u8>(at, value);
}

export function load_u64(at: usize): u64 {
  return load<u64>(at);
}

export function store_u64(at: usize, value: u64): void {
  store<u64>(at, value);
}

export function load_tuple_u8_string_string_string_string_string_string_string_u64_shapes_Mixed(at: usize): Tuple10OfU8TextTextTextTextTextTextTextU64Mixed {
  return new Tuple10OfU8TextTextTextTextTextTextTextU64Mixed(load<u8>(at), _memory.loadString(at + 4), _memory.loadString(at + 12), _memory.loadString(at + 20), _memory.loadString(at + 28), _memory.loadString(at + 36), _memory.loadString(at + 44), _memory.loadString(at + 52), load<u64>(at + 64), load_shapes_Mixed(at + 72));
}

export function store_tuple_u8_string_string_string_string_string_string_string_u64_shapes_Mixed(at: usize, value: Tuple10OfU8TextTextTextTextTextTextTextU64Mixed): void {
  store<u8>(at, value.f0);
  _memory.storeString(at + 4, value.f1);
  _memory.storeString(at + 12, value.f2);
  _memory.storeString(at + 20, value.f3);
  _memory.storeString(at + 28, value.f4);
  _memory.storeString(at + 36, value.f5);
  _memory.storeString(at + 44, value.f6);
  _memory.storeString(at + 52, value.f7);
  store<u64>(at + 64, value.f8);
  store_shapes_Mixed(at + 72, value.f9);
}

export function load_tuple_shapes_Mixed_shapes_Floaty_option_f64(at: usize): TripleOfMixedFloatyOptionalF64 {
  return new TripleOfMixedFloatyOptionalF64(load_shapes_Mixed(at), load_shapes_Floaty(at + 48), load_option_f64(at + 56));
}

export function store_tuple_shapes_Mixed_shapes_Floaty_option_f64(at: usize, value: TripleOfMixedFloatyOptionalF64): void {
  store_shapes_Mixed(at, value.f0);
  store_shapes_Floaty(at + 48, value.f1);
  store_option_f64(at + 56, value.f2);
}

export function load_result_list_u64_shapes_Error_(at: usize): U64ListOrError_ {
  if (load<u8>(at) == 0) return U64ListOrError_.ok(load_list_u64(at + 4));
  return U64ListOrError_.err(<shapes_Error_>load<u8>(at + 4));
}

export function store_result_list_u64_shapes_Error_(at: usize, value: U64ListOrError_): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store_list_u64(at + 4, value.value);
    return;
  }
  store<u8>(at, 1);
  store<u8>(at + 4, <u8>value.error);
}

export function load_result_none_string(at: usize): string | null {
  if (load<u8>(at) == 0) return null;
  return _memory.loadString(at + 4);
}

export function store_result_none_string(at: usize, value: string | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  _memory.storeString(at + 4, value);
}

export function load_result_u8_none(at: usize): Some<u8> | null {
  if (load<u8>(at) != 0) return null;
  return new Some<u8>(load<u8>(at + 1));
}

export function store_result_u8_none(at: usize, value: Some<u8> | null): void {
  if (value === null) {
    store<u8>(at, 1);
    return;
  }
  store<u8>(at, 0);
  store<u8>(at + 1, value.value);
}

export function load_option_u64(at: usize): Some<u64> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<u64>(load<u64>(at + 8));
}

export function store_option_u64(at: usize, value: Some<u64> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<u64>(at + 8, value.value);
}

export function load_tuple_f32_string(at: usize): PairOfF32Text {
  return new PairOfF32Text(load<f32>(at), _memory.loadString(at + 4));
}

export function store_tuple_f32_string(at: usize, value: PairOfF32Text): void {
  store<f32>(at, value.f0);
  _memory.storeString(at + 4, value.f1);
}

export function load_option_s8(at: usize): Some<i8> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<i8>(load<i8>(at + 1));
}

export function store_option_s8(at: usize, value: Some<i8> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<i8>(at + 1, value.value);
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

export function load_option_option_string(at: usize): Some<string | null> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<string | null>(load_option_string(at + 4));
}

export function store_option_option_string(at: usize, value: Some<string | null> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store_option_string(at + 4, value.value);
}

export function load_list_option_string(at: usize): Array<string | null> {
  const from = <usize>load<u32>(at);
  const length = <i32>load<u32>(at, 4);
  const list = new Array<string | null>(length);
  for (let i = 0; i < length; i++) {
    list[i] = load_option_string(from + <usize>i * 12);
  }
  return list;
}

export function store_list_option_string(at: usize, value: Array<string | null>): void {
  const length = value.length;
  store<u32>(at, <u32>_memory.allocateList(length, 12, 4));
  store<u32>(at, <u32>length, 4);
  let to = <usize>load<u32>(at);
  for (let i = 0; i < length; i++) {
    store_option_string(to, value[i]);
    to += 12;
  }
}

export function load_tuple_u8_string_u64(at: usize): TripleOfU8TextU64 {
  return new TripleOfU8TextU64(load<u8>(at), _memory.loadString(at + 4), load<u64>(at + 16));
}

export function store_tuple_u8_string_u64(at: usize, value: TripleOfU8TextU64): void {
  store<u8>(at, value.f0);
  _memory.storeString(at + 4, value.f1);
  store<u64>(at + 16, value.f2);
}

export function load_result_u64_shapes_Error_(at: usize): U64OrError_ {
  if (load<u8>(at) == 0) return U64OrError_.ok(load<u64>(at + 8));
  return U64OrError_.err(<shapes_Error_>load<u8>(at + 8));
}

export function store_result_u64_shapes_Error_(at: usize, value: U64OrError_): void {
  if (value.isOk) {
    store<u8>(at, 0);
    store<u64>(at + 8, value.value);
    return;
  }
  store<u8>(at, 1);
  store<u8>(at + 8, <u8>value.error);
}

export function load_result_string_none(at: usize): string | null {
  if (load<u8>(at) != 0) return null;
  return _memory.loadString(at + 4);
}

export function store_result_string_none(at: usize, value: string | null): void {
  if (value === null) {
    store<u8>(at, 1);
    return;
  }
  store<u8>(at, 0);
  _memory.storeString(at + 4, value);
}

export function load_result_none_u32(at: usize): Some<u32> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<u32>(load<u32>(at + 4));
}

export function store_result_none_u32(at: usize, value: Some<u32> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<u32>(at + 4, value.value);
}

export function load_option_f64(at: usize): Some<f64> | null {
  if (load<u8>(at) == 0) return null;
  return new Some<f64>(load<f64>(at + 8));
}

export function store_option_f64(at: usize, value: Some<f64> | null): void {
  if (value === null) {
    store<u8>(at, 0);
    return;
  }
  store<u8>(at, 1);
  store<f64>(at + 8, value.value);
}
