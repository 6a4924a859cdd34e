// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

import { Some } from "plexus/some";
import { PairOfF32Text, U64ListOrError_ } from "./compounds";

/** Names that mean something to AssemblyScript. */
export class Record {
  interface_: u8;
  constructor_: u64;
  new_: bool;
  this_: Some<i8> | null = null;
  string: string;
  type: i16;
  array: Array<string> = new Array<string>();

  constructor(interface_: u8, constructor_: u64, new_: bool, string: string, type: i16) {
    this.interface_ = interface_;
    this.constructor_ = constructor_;
    this.new_ = new_;
    this.string = string;
    this.type = type;
  }
}

/** Alignment: 1, 8, 2, 8, 1. */
export class Padded {
  a: bool;
  b: u64;
  c: u16;
  d: f64;
  e: u8;

  constructor(a: bool, b: u64, c: u16, d: f64, e: u8) {
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
    this.e = e;
  }
}

export class EmptyLists {
  names: Array<string> = new Array<string>();
  numbers: Array<u64> = new Array<u64>();
  nested: Array<Array<string>> = new Array<Array<string>>();
}

export enum Error_ {
  Array = 0,
  Map = 1,
  This = 2,
}

export enum Wide {
  C0 = 0,
  C1 = 1,
  C2 = 2,
  C3 = 3,
  C4 = 4,
  C5 = 5,
  C6 = 6,
  C7 = 7,
  C8 = 8,
  C9 = 9,
  C10 = 10,
  C11 = 11,
  C12 = 12,
  C13 = 13,
  C14 = 14,
  C15 = 15,
  C16 = 16,
  C17 = 17,
  C18 = 18,
  C19 = 19,
  C20 = 20,
  C21 = 21,
  C22 = 22,
  C23 = 23,
  C24 = 24,
  C25 = 25,
  C26 = 26,
  C27 = 27,
  C28 = 28,
  C29 = 29,
  C30 = 30,
  C31 = 31,
  C32 = 32,
  C33 = 33,
  C34 = 34,
  C35 = 35,
  C36 = 36,
  C37 = 37,
  C38 = 38,
  C39 = 39,
  C40 = 40,
  C41 = 41,
  C42 = 42,
  C43 = 43,
  C44 = 44,
  C45 = 45,
  C46 = 46,
  C47 = 47,
  C48 = 48,
  C49 = 49,
  C50 = 50,
  C51 = 51,
  C52 = 52,
  C53 = 53,
  C54 = 54,
  C55 = 55,
  C56 = 56,
  C57 = 57,
  C58 = 58,
  C59 = 59,
  C60 = 60,
  C61 = 61,
  C62 = 62,
  C63 = 63,
  C64 = 64,
  C65 = 65,
  C66 = 66,
  C67 = 67,
  C68 = 68,
  C69 = 69,
  C70 = 70,
  C71 = 71,
  C72 = 72,
  C73 = 73,
  C74 = 74,
  C75 = 75,
  C76 = 76,
  C77 = 77,
  C78 = 78,
  C79 = 79,
  C80 = 80,
  C81 = 81,
  C82 = 82,
  C83 = 83,
  C84 = 84,
  C85 = 85,
  C86 = 86,
  C87 = 87,
  C88 = 88,
  C89 = 89,
  C90 = 90,
  C91 = 91,
  C92 = 92,
  C93 = 93,
  C94 = 94,
  C95 = 95,
  C96 = 96,
  C97 = 97,
  C98 = 98,
  C99 = 99,
  C100 = 100,
  C101 = 101,
  C102 = 102,
  C103 = 103,
  C104 = 104,
  C105 = 105,
  C106 = 106,
  C107 = 107,
  C108 = 108,
  C109 = 109,
  C110 = 110,
  C111 = 111,
  C112 = 112,
  C113 = 113,
  C114 = 114,
  C115 = 115,
  C116 = 116,
  C117 = 117,
  C118 = 118,
  C119 = 119,
  C120 = 120,
  C121 = 121,
  C122 = 122,
  C123 = 123,
  C124 = 124,
  C125 = 125,
  C126 = 126,
  C127 = 127,
  C128 = 128,
  C129 = 129,
  C130 = 130,
  C131 = 131,
  C132 = 132,
  C133 = 133,
  C134 = 134,
  C135 = 135,
  C136 = 136,
  C137 = 137,
  C138 = 138,
  C139 = 139,
  C140 = 140,
  C141 = 141,
  C142 = 142,
  C143 = 143,
  C144 = 144,
  C145 = 145,
  C146 = 146,
  C147 = 147,
  C148 = 148,
  C149 = 149,
  C150 = 150,
  C151 = 151,
  C152 = 152,
  C153 = 153,
  C154 = 154,
  C155 = 155,
  C156 = 156,
  C157 = 157,
  C158 = 158,
  C159 = 159,
  C160 = 160,
  C161 = 161,
  C162 = 162,
  C163 = 163,
  C164 = 164,
  C165 = 165,
  C166 = 166,
  C167 = 167,
  C168 = 168,
  C169 = 169,
  C170 = 170,
  C171 = 171,
  C172 = 172,
  C173 = 173,
  C174 = 174,
  C175 = 175,
  C176 = 176,
  C177 = 177,
  C178 = 178,
  C179 = 179,
  C180 = 180,
  C181 = 181,
  C182 = 182,
  C183 = 183,
  C184 = 184,
  C185 = 185,
  C186 = 186,
  C187 = 187,
  C188 = 188,
  C189 = 189,
  C190 = 190,
  C191 = 191,
  C192 = 192,
  C193 = 193,
  C194 = 194,
  C195 = 195,
  C196 = 196,
  C197 = 197,
  C198 = 198,
  C199 = 199,
  C200 = 200,
  C201 = 201,
  C202 = 202,
  C203 = 203,
  C204 = 204,
  C205 = 205,
  C206 = 206,
  C207 = 207,
  C208 = 208,
  C209 = 209,
  C210 = 210,
  C211 = 211,
  C212 = 212,
  C213 = 213,
  C214 = 214,
  C215 = 215,
  C216 = 216,
  C217 = 217,
  C218 = 218,
  C219 = 219,
  C220 = 220,
  C221 = 221,
  C222 = 222,
  C223 = 223,
  C224 = 224,
  C225 = 225,
  C226 = 226,
  C227 = 227,
  C228 = 228,
  C229 = 229,
  C230 = 230,
  C231 = 231,
  C232 = 232,
  C233 = 233,
  C234 = 234,
  C235 = 235,
  C236 = 236,
  C237 = 237,
  C238 = 238,
  C239 = 239,
  C240 = 240,
  C241 = 241,
  C242 = 242,
  C243 = 243,
  C244 = 244,
  C245 = 245,
  C246 = 246,
  C247 = 247,
  C248 = 248,
  C249 = 249,
  C250 = 250,
  C251 = 251,
  C252 = 252,
  C253 = 253,
  C254 = 254,
  C255 = 255,
  C256 = 256,
}

export enum Few {
  A = 1 << 0,
  B = 1 << 1,
  C = 1 << 2,
}

export enum Sixteen {
  B0 = 1 << 0,
  B1 = 1 << 1,
  B2 = 1 << 2,
  B3 = 1 << 3,
  B4 = 1 << 4,
  B5 = 1 << 5,
  B6 = 1 << 6,
  B7 = 1 << 7,
  B8 = 1 << 8,
  B9 = 1 << 9,
  B10 = 1 << 10,
  B11 = 1 << 11,
  B12 = 1 << 12,
  B13 = 1 << 13,
  B14 = 1 << 14,
  B15 = 1 << 15,
}

export enum Full {
  B0 = 1 << 0,
  B1 = 1 << 1,
  B2 = 1 << 2,
  B3 = 1 << 3,
  B4 = 1 << 4,
  B5 = 1 << 5,
  B6 = 1 << 6,
  B7 = 1 << 7,
  B8 = 1 << 8,
  B9 = 1 << 9,
  B10 = 1 << 10,
  B11 = 1 << 11,
  B12 = 1 << 12,
  B13 = 1 << 13,
  B14 = 1 << 14,
  B15 = 1 << 15,
  B16 = 1 << 16,
  B17 = 1 << 17,
  B18 = 1 << 18,
  B19 = 1 << 19,
  B20 = 1 << 20,
  B21 = 1 << 21,
  B22 = 1 << 22,
  B23 = 1 << 23,
  B24 = 1 << 24,
  B25 = 1 << 25,
  B26 = 1 << 26,
  B27 = 1 << 27,
  B28 = 1 << 28,
  B29 = 1 << 29,
  B30 = 1 << 30,
  B31 = 1 << 31,
}

/** Payloads whose flat types join: i32 with f32, i64 with f64, pointers with both. */
export class Mixed {
  /** The case, counted from 0 in the order of the WIT. */
  readonly kind: i32;
  private _1: u8 = 0;
  private _2: u64 = 0;
  private _3: f32 = 0;
  private _4: f64 = 0;
  private _5: string | null = null;
  private _6: PairOfF32Text | null = null;
  private _7: Some<Some<u32> | null> | null = null;
  private _8: Error_ = 0;
  private _9: Padded | null = null;

  private constructor(kind: i32) {
    this.kind = kind;
  }

  static none(): Mixed {
    return new Mixed(0);
  }
  get isNone(): bool {
    return this.kind == 0;
  }

  static small(value: u8): Mixed {
    const made = new Mixed(1);
    made._1 = value;
    return made;
  }
  get isSmall(): bool {
    return this.kind == 1;
  }
  get asSmall(): u8 {
    assert(this.kind == 1, "the variant has another case");
    return this._1;
  }

  static large(value: u64): Mixed {
    const made = new Mixed(2);
    made._2 = value;
    return made;
  }
  get isLarge(): bool {
    return this.kind == 2;
  }
  get asLarge(): u64 {
    assert(this.kind == 2, "the variant has another case");
    return this._2;
  }

  static single(value: f32): Mixed {
    const made = new Mixed(3);
    made._3 = value;
    return made;
  }
  get isSingle(): bool {
    return this.kind == 3;
  }
  get asSingle(): f32 {
    assert(this.kind == 3, "the variant has another case");
    return this._3;
  }

  static double(value: f64): Mixed {
    const made = new Mixed(4);
    made._4 = value;
    return made;
  }
  get isDouble(): bool {
    return this.kind == 4;
  }
  get asDouble(): f64 {
    assert(this.kind == 4, "the variant has another case");
    return this._4;
  }

  static text(value: string): Mixed {
    const made = new Mixed(5);
    made._5 = value;
    return made;
  }
  get isText(): bool {
    return this.kind == 5;
  }
  get asText(): string {
    assert(this.kind == 5, "the variant has another case");
    return this._5 as string;
  }

  static pair(value: PairOfF32Text): Mixed {
    const made = new Mixed(6);
    made._6 = value;
    return made;
  }
  get isPair(): bool {
    return this.kind == 6;
  }
  get asPair(): PairOfF32Text {
    assert(this.kind == 6, "the variant has another case");
    return this._6 as PairOfF32Text;
  }

  static deep(value: Some<Some<u32> | null> | null): Mixed {
    const made = new Mixed(7);
    made._7 = value;
    return made;
  }
  get isDeep(): bool {
    return this.kind == 7;
  }
  get asDeep(): Some<Some<u32> | null> | null {
    assert(this.kind == 7, "the variant has another case");
    return this._7;
  }

  static kind(value: Error_): Mixed {
    const made = new Mixed(8);
    made._8 = value;
    return made;
  }
  get isKind(): bool {
    return this.kind == 8;
  }
  get asKind(): Error_ {
    assert(this.kind == 8, "the variant has another case");
    return this._8;
  }

  static rec(value: Padded): Mixed {
    const made = new Mixed(9);
    made._9 = value;
    return made;
  }
  get isRec(): bool {
    return this.kind == 9;
  }
  get asRec(): Padded {
    assert(this.kind == 9, "the variant has another case");
    return this._9 as Padded;
  }
}

/** i32 joined with f32 alone. */
export class Floaty {
  /** The case, counted from 0 in the order of the WIT. */
  readonly kind: i32;
  private _0: u32 = 0;
  private _1: f32 = 0;

  private constructor(kind: i32) {
    this.kind = kind;
  }

  static i(value: u32): Floaty {
    const made = new Floaty(0);
    made._0 = value;
    return made;
  }
  get isI(): bool {
    return this.kind == 0;
  }
  get asI(): u32 {
    assert(this.kind == 0, "the variant has another case");
    return this._0;
  }

  static f(value: f32): Floaty {
    const made = new Floaty(1);
    made._1 = value;
    return made;
  }
  get isF(): bool {
    return this.kind == 1;
  }
  get asF(): f32 {
    assert(this.kind == 1, "the variant has another case");
    return this._1;
  }
}

export type Id = u64;

export type Ids = Array<u64>;

export type Maybe = string | null;

export type Outcome = U64ListOrError_;
