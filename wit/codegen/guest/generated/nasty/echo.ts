// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

import * as _calls from "./calls";
import { Some } from "plexus/some";
import { SingleOfOutcomeresult, SingleOfOutcomeresultstring, SingleOfOutcomeresultu32, SingleOfU64OrError_, TripleOfMixedFloatyOptionalF64, TripleOfU8TextU64, Tuple10OfU8TextTextTextTextTextTextTextU64Mixed, Tuple9OfTextTextTextTextTextTextTextU64F32, U64ListOrError_, U64OrError_ } from "./compounds";
import { Record as shapes_Record } from "./shapes";
import { Padded as shapes_Padded } from "./shapes";
import { EmptyLists as shapes_EmptyLists } from "./shapes";
import { Error_ as shapes_Error_ } from "./shapes";
import { Wide as shapes_Wide } from "./shapes";
import { Few as shapes_Few } from "./shapes";
import { Sixteen as shapes_Sixteen } from "./shapes";
import { Full as shapes_Full } from "./shapes";
import { Mixed as shapes_Mixed } from "./shapes";
import { Floaty as shapes_Floaty } from "./shapes";
export { Record } from "./shapes";
export { Padded } from "./shapes";
export { EmptyLists } from "./shapes";
export { Error_ } from "./shapes";
export { Wide } from "./shapes";
export { Few } from "./shapes";
export { Sixteen } from "./shapes";
export { Full } from "./shapes";
export { Mixed } from "./shapes";
export { Floaty } from "./shapes";
export { Id } from "./shapes";
export { Ids } from "./shapes";
export { Maybe } from "./shapes";
export { Outcome } from "./shapes";
export { SingleOfOutcomeresult, SingleOfOutcomeresultstring, SingleOfOutcomeresultu32, SingleOfU64OrError_, TripleOfMixedFloatyOptionalF64, TripleOfU8TextU64, Tuple10OfU8TextTextTextTextTextTextTextU64Mixed, Tuple9OfTextTextTextTextTextTextTextU64F32, U64ListOrError_, U64OrError_ } from "./compounds";

export function doBool(v: bool): bool {
  return _calls.echo_doBool(v);
}

export function doU8(v: u8): u8 {
  return _calls.echo_doU8(v);
}

export function doS8(v: i8): i8 {
  return _calls.echo_doS8(v);
}

export function doU16(v: u16): u16 {
  return _calls.echo_doU16(v);
}

export function doS16(v: i16): i16 {
  return _calls.echo_doS16(v);
}

export function doU32(v: u32): u32 {
  return _calls.echo_doU32(v);
}

export function doS32(v: i32): i32 {
  return _calls.echo_doS32(v);
}

export function doU64(v: u64): u64 {
  return _calls.echo_doU64(v);
}

export function doS64(v: i64): i64 {
  return _calls.echo_doS64(v);
}

export function doF32(v: f32): f32 {
  return _calls.echo_doF32(v);
}

export function doF64(v: f64): f64 {
  return _calls.echo_doF64(v);
}

export function doChar(v: u32): u32 {
  return _calls.echo_doChar(v);
}

export function doString(v: string): string {
  return _calls.echo_doString(v);
}

export function doNothing(): void {
  _calls.echo_doNothing();
}

export function doRecord(v: shapes_Record): shapes_Record {
  return _calls.echo_doRecord(v);
}

export function doPadded(v: shapes_Padded): shapes_Padded {
  return _calls.echo_doPadded(v);
}

export function doEmptyLists(v: shapes_EmptyLists): shapes_EmptyLists {
  return _calls.echo_doEmptyLists(v);
}

export function doError(v: shapes_Error_): shapes_Error_ {
  return _calls.echo_doError(v);
}

export function doWide(v: shapes_Wide): shapes_Wide {
  return _calls.echo_doWide(v);
}

export function doFew(v: shapes_Few): shapes_Few {
  return _calls.echo_doFew(v);
}

export function doSixteen(v: shapes_Sixteen): shapes_Sixteen {
  return _calls.echo_doSixteen(v);
}

export function doFull(v: shapes_Full): shapes_Full {
  return _calls.echo_doFull(v);
}

export function doMixed(v: shapes_Mixed): shapes_Mixed {
  return _calls.echo_doMixed(v);
}

export function doFloaty(v: shapes_Floaty): shapes_Floaty {
  return _calls.echo_doFloaty(v);
}

export function doIds(v: Array<u64>): Array<u64> {
  return _calls.echo_doIds(v);
}

export function doMaybe(v: string | null): string | null {
  return _calls.echo_doMaybe(v);
}

export function doNestedOption(v: Some<Some<u32> | null> | null): Some<Some<u32> | null> | null {
  return _calls.echo_doNestedOption(v);
}

export function doDeepOption(v: Some<Some<string | null> | null> | null): Some<Some<string | null> | null> | null {
  return _calls.echo_doDeepOption(v);
}

export function doBytes(v: Array<u8>): Array<u8> {
  return _calls.echo_doBytes(v);
}

export function doBools(v: Array<bool>): Array<bool> {
  return _calls.echo_doBools(v);
}

export function doChars(v: Array<u32>): Array<u32> {
  return _calls.echo_doChars(v);
}

export function doFloats(v: Array<f64>): Array<f64> {
  return _calls.echo_doFloats(v);
}

export function doLists(v: Array<Array<string | null>>): Array<Array<string | null>> {
  return _calls.echo_doLists(v);
}

export function doVariants(v: Array<shapes_Mixed>): Array<shapes_Mixed> {
  return _calls.echo_doVariants(v);
}

export function doTuples(v: Array<TripleOfU8TextU64>): Array<TripleOfU8TextU64> {
  return _calls.echo_doTuples(v);
}

export function doOutcomes(v: Array<U64ListOrError_>): Array<U64ListOrError_> {
  return _calls.echo_doOutcomes(v);
}

export function doFlags(v: Array<shapes_Full>): Array<shapes_Full> {
  return _calls.echo_doFlags(v);
}

export function doResult(v: U64OrError_): SingleOfU64OrError_ {
  return _calls.echo_doResult(v);
}

export function doResultOk(v: string | null): SingleOfOutcomeresultstring {
  return _calls.echo_doResultOk(v);
}

export function doResultErr(v: Some<u32> | null): SingleOfOutcomeresultu32 {
  return _calls.echo_doResultErr(v);
}

export function doResultNone(v: bool): SingleOfOutcomeresult {
  return _calls.echo_doResultNone(v);
}

export function doOptionOfResults(v: Some<string | null> | null): Some<string | null> | null {
  return _calls.echo_doOptionOfResults(v);
}

/** Sixteen flat parameters: still in registers. */
export function inRegisters(a: string, b: string, c: string, d: string, e: string, f: string, g: string, h: u64, i: f32): Tuple9OfTextTextTextTextTextTextTextU64F32 {
  return _calls.echo_inRegisters(a, b, c, d, e, f, g, h, i);
}

/** Seventeen: behind a pointer. */
export function inMemory(a: u8, b: string, c: string, d: string, e: string, f: string, g: string, h: string, i: u64, j: shapes_Mixed): Tuple10OfU8TextTextTextTextTextTextTextU64Mixed {
  return _calls.echo_inMemory(a, b, c, d, e, f, g, h, i, j);
}

export function joined(a: shapes_Mixed, b: shapes_Floaty, c: Some<f64> | null): TripleOfMixedFloatyOptionalF64 {
  return _calls.echo_joined(a, b, c);
}

export function fails(v: U64ListOrError_): U64ListOrError_ {
  return _calls.echo_fails(v);
}

export function failsSoftly(v: string | null): string | null {
  return _calls.echo_failsSoftly(v);
}

export function failsMutely(v: Some<u8> | null): Some<u8> | null {
  return _calls.echo_failsMutely(v);
}

export function failsPlainly(v: bool): bool {
  return _calls.echo_failsPlainly(v);
}
