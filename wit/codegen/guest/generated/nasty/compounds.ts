// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

import { Some } from "plexus/some";
import { Error_ as shapes_Error_ } from "./shapes";
import { Mixed as shapes_Mixed } from "./shapes";
import { Floaty as shapes_Floaty } from "./shapes";

export class PairOfF32Text {
  f0: f32;
  f1: string;

  constructor(f0: f32, f1: string) {
    this.f0 = f0;
    this.f1 = f1;
  }
}

export class U64ListOrError_ {
  readonly isOk: bool;
  private _value: Array<u64> | null = null;
  private _error: shapes_Error_ = 0;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: Array<u64>): U64ListOrError_ {
    const made = new U64ListOrError_(true);
    made._value = value;
    return made;
  }
  get value(): Array<u64> {
    assert(this.isOk, "the result is an error");
    return this._value as Array<u64>;
  }

  static err(value: shapes_Error_): U64ListOrError_ {
    const made = new U64ListOrError_(false);
    made._error = value;
    return made;
  }
  get error(): shapes_Error_ {
    assert(!this.isOk, "the result is not an error");
    return this._error;
  }
}

export class TripleOfU8TextU64 {
  f0: u8;
  f1: string;
  f2: u64;

  constructor(f0: u8, f1: string, f2: u64) {
    this.f0 = f0;
    this.f1 = f1;
    this.f2 = f2;
  }
}

export class U64OrError_ {
  readonly isOk: bool;
  private _value: u64 = 0;
  private _error: shapes_Error_ = 0;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: u64): U64OrError_ {
    const made = new U64OrError_(true);
    made._value = value;
    return made;
  }
  get value(): u64 {
    assert(this.isOk, "the result is an error");
    return this._value;
  }

  static err(value: shapes_Error_): U64OrError_ {
    const made = new U64OrError_(false);
    made._error = value;
    return made;
  }
  get error(): shapes_Error_ {
    assert(!this.isOk, "the result is not an error");
    return this._error;
  }
}

export class SingleOfU64OrError_ {
  f0: U64OrError_;

  constructor(f0: U64OrError_) {
    this.f0 = f0;
  }
}

export class SingleOfOutcomeresultstring {
  f0: string | null;

  constructor(f0: string | null) {
    this.f0 = f0;
  }
}

export class SingleOfOutcomeresultu32 {
  f0: Some<u32> | null;

  constructor(f0: Some<u32> | null) {
    this.f0 = f0;
  }
}

export class SingleOfOutcomeresult {
  f0: bool;

  constructor(f0: bool) {
    this.f0 = f0;
  }
}

export class Tuple9OfTextTextTextTextTextTextTextU64F32 {
  f0: string;
  f1: string;
  f2: string;
  f3: string;
  f4: string;
  f5: string;
  f6: string;
  f7: u64;
  f8: f32;

  constructor(f0: string, f1: string, f2: string, f3: string, f4: string, f5: string, f6: string, f7: u64, f8: f32) {
    this.f0 = f0;
    this.f1 = f1;
    this.f2 = f2;
    this.f3 = f3;
    this.f4 = f4;
    this.f5 = f5;
    this.f6 = f6;
    this.f7 = f7;
    this.f8 = f8;
  }
}

export class Tuple10OfU8TextTextTextTextTextTextTextU64Mixed {
  f0: u8;
  f1: string;
  f2: string;
  f3: string;
  f4: string;
  f5: string;
  f6: string;
  f7: string;
  f8: u64;
  f9: shapes_Mixed;

  constructor(f0: u8, f1: string, f2: string, f3: string, f4: string, f5: string, f6: string, f7: string, f8: u64, f9: shapes_Mixed) {
    this.f0 = f0;
    this.f1 = f1;
    this.f2 = f2;
    this.f3 = f3;
    this.f4 = f4;
    this.f5 = f5;
    this.f6 = f6;
    this.f7 = f7;
    this.f8 = f8;
    this.f9 = f9;
  }
}

export class TripleOfMixedFloatyOptionalF64 {
  f0: shapes_Mixed;
  f1: shapes_Floaty;
  f2: Some<f64> | null;

  constructor(f0: shapes_Mixed, f1: shapes_Floaty, f2: Some<f64> | null) {
    this.f0 = f0;
    this.f1 = f1;
    this.f2 = f2;
  }
}
