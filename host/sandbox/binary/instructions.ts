// The instructions of core WebAssembly (5.4) that a delegate may use, and their lengths. The meter needs the boundaries between instructions;
// V8 validates their effects.

import { isValueType } from "./core-types.ts";
import { refuse } from "../../../wit/binary/refusal.ts";

/** The immediates after an opcode. */
const form = {
  refused: 0,
  none: 1,
  /** One LEB128 number, of any width and sign. */
  number: 2,
  twoNumbers: 3,
  bytes4: 4,
  bytes8: 5,
  bytes16: 6,
  byte: 7,
  memArg: 8,
  memArgByte: 9,
  branchTable: 10,
  valueTypes: 11,
  blockType: 12,
  global: 13,
  table: 14,
  twoTables: 15,
  /** The number of a type or of an element segment, and a table. */
  numberTable: 16,
  func: 17,
  label: 18,
} as const;

/** The value of `operand` for a block without a type index: the block has no values, or one result. */
export const blockWithout = { values: -1, typeIndex: -2 } as const;

/** Maximum targets of a branch table, as V8 has it. */
const maxBranchTargets = 65_520;

/** Sizes of the guest's index spaces. Higher indices belong to the meter, so an instruction that names one is refused. */
export type IndexSpaces = Readonly<Record<"func" | "table" | "global", number>>;

/**
 * The kinds that the meter distinguishes. `block` (also `if`) and `loop` have an `end`. The cost of `bulk` depends on its operands, which
 * give a size of memory or table.
 */
export type InstructionKind = "other" | "block" | "loop" | "end" | "bulk";

const plain = new Uint8Array(256);
const prefixed = new Uint8Array(18);
const vector = new Uint8Array(0x114).fill(form.none);
const refusals: Readonly<Record<number, string>> = {
  0xfb: "a GC instruction",
  0xfe: "an atomic instruction",
  0x14: "a call through a typed reference",
  0x15: "a call through a typed reference",
};

function fill(table: Uint8Array, immediate: number, ...ranges: readonly (readonly [number, number])[]): void {
  for (const [from, to] of ranges) table.fill(immediate, from, to + 1);
}

// unreachable, nop; else, end; return; drop, select; numeric; ref.is_null.
fill(plain, form.none, [0x00, 0x01], [0x05, 0x05], [0x0b, 0x0b], [0x0f, 0x0f], [0x1a, 0x1b], [0x45, 0xc4], [0xd1, 0xd1]);
fill(plain, form.blockType, [0x02, 0x04]);
// br, br_if.
fill(plain, form.label, [0x0c, 0x0d]);
// Locals; memory.size, memory.grow; i32.const, i64.const; ref.null.
fill(plain, form.number, [0x20, 0x22], [0x3f, 0x42], [0xd0, 0xd0]);
fill(plain, form.global, [0x23, 0x24]);
fill(plain, form.table, [0x25, 0x26]);
// call, return_call; ref.func.
fill(plain, form.func, [0x10, 0x10], [0x12, 0x12], [0xd2, 0xd2]);
fill(plain, form.branchTable, [0x0e, 0x0e]);
// call_indirect, return_call_indirect.
fill(plain, form.numberTable, [0x11, 0x11], [0x13, 0x13]);
fill(plain, form.valueTypes, [0x1c, 0x1c]);
fill(plain, form.memArg, [0x28, 0x3e]);
fill(plain, form.bytes4, [0x43, 0x43]);
fill(plain, form.bytes8, [0x44, 0x44]);
// Saturating truncations; memory.init, data.drop, memory.copy, memory.fill, table.init, elem.drop, table.copy, grow, size, fill.
fill(prefixed, form.none, [0, 7]);
fill(prefixed, form.twoNumbers, [8, 8], [10, 10]);
fill(prefixed, form.number, [9, 9], [11, 11], [13, 13]);
fill(prefixed, form.numberTable, [12, 12]);
fill(prefixed, form.twoTables, [14, 14]);
fill(prefixed, form.table, [15, 17]);
// Loads and stores; v128.const, i8x16.shuffle; lanes; loads and stores of lanes; zero-extending loads.
fill(vector, form.memArg, [0, 11], [92, 93]);
fill(vector, form.bytes16, [12, 13]);
fill(vector, form.byte, [21, 34]);
fill(vector, form.memArgByte, [84, 91]);

/** Walks through the instructions of a byte range. Refuses code that is cut short. */
export class Instructions {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #spaces: IndexSpaces;
  /** Offset of the next instruction. */
  pos: number;
  /** Offset of the last instruction. */
  at = 0;
  /** The last instruction's first byte. */
  opcode = 0;
  /** The number after the first byte of an instruction with the prefix 0xfc or 0xfd. */
  operation = 0;
  /** The label of a branch, the function or type of a call, or the type of a block: its index, or one of `blockWithout`. */
  operand = 0;
  /** The labels of the last branch table, the default label included. */
  targets: number[] = [];

  constructor(bytes: Uint8Array, start: number, end: number, spaces: IndexSpaces) {
    this.#bytes = bytes;
    this.pos = start;
    this.#end = end;
    this.#spaces = spaces;
  }

  get atEnd(): boolean {
    return this.pos >= this.#end;
  }

  /** Skips the next instruction and answers its kind. Refuses exceptions, GC, atomics and typed references. */
  next(): InstructionKind {
    this.at = this.pos;
    const opcode = this.#byte();
    this.opcode = opcode;
    if (opcode === 0xfc) return this.#prefixed();
    if (opcode === 0xfd) {
      this.operation = this.number();
      this.#immediate(vector[this.operation] ?? form.refused, opcode);
      return "other";
    }
    this.#immediate(plain[opcode] ?? form.refused, opcode);
    switch (opcode) {
      case 0x02:
      case 0x04:
        return "block";
      case 0x03:
        return "loop";
      case 0x0b:
        return "end";
      case 0x40: // memory.grow
        return "bulk";
      default:
        return "other";
    }
  }

  /** Reads an unsigned LEB128 number. */
  number(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    let unit = 128;
    for (let count = 1; count < 5; count += 1, unit *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    return refuse("a number in an instruction is not a 32-bit number", this.at);
  }

  #prefixed(): InstructionKind {
    const operation = this.number();
    this.operation = operation;
    this.#immediate(prefixed[operation] ?? form.refused, 0xfc);
    return operation >= 8 && operation !== 9 && operation !== 13 && operation !== 16 ? "bulk" : "other";
  }

  #immediate(immediate: number, opcode: number): void {
    switch (immediate) {
      case form.none:
        return;
      case form.twoNumbers:
        this.#skipNumber();
        this.#skipNumber();
        return;
      case form.number:
        this.#skipNumber();
        return;
      case form.byte:
        this.#skip(1);
        return;
      case form.bytes4:
        this.#skip(4);
        return;
      case form.bytes8:
        this.#skip(8);
        return;
      case form.bytes16:
        this.#skip(16);
        return;
      case form.memArg:
        this.#memArg();
        return;
      case form.memArgByte:
        this.#memArg();
        this.#skip(1);
        return;
      case form.label:
        this.operand = this.number();
        return;
      case form.branchTable:
        this.#branchTargets();
        return;
      case form.valueTypes:
        for (let left = this.number(); left > 0; left -= 1) this.#valueType(this.#byte());
        return;
      case form.blockType:
        this.#blockType();
        return;
      case form.global:
        this.#index("global");
        return;
      case form.twoTables:
        this.#index("table");
        this.#index("table");
        return;
      case form.numberTable:
        this.operand = this.number();
        this.#index("table");
        return;
      case form.table:
        this.#index("table");
        return;
      case form.func:
        this.operand = this.#index("func");
        return;
      case form.refused:
        refuse(`${refusals[opcode] ?? exceptionOr(opcode)} is not allowed in a delegate`, this.at);
    }
  }

  #index(space: keyof IndexSpaces): number {
    const index = this.number();
    if (index >= this.#spaces[space]) refuse(`an instruction names ${space} ${index}, which does not exist`, this.at);
    return index;
  }

  #branchTargets(): void {
    const count = this.number();
    if (count > maxBranchTargets) refuse(`a branch table with ${count} targets (at most ${maxBranchTargets})`, this.at);
    this.targets = [];
    for (let left = count; left >= 0; left -= 1) this.targets.push(this.number());
  }

  /** A block type is empty, a value type of one byte, or a type index. A typed reference would need more than one number. */
  #blockType(): void {
    const first = this.#byte();
    if (first >= 0x40 && first < 0x80) {
      if (first > 0x40) this.#valueType(first);
      this.operand = first > 0x40 ? blockWithout.typeIndex : blockWithout.values;
      return;
    }
    let last = first;
    this.operand = first & 0x7f;
    for (let count = 1; last >= 0x80 && count < 5; count += 1) {
      last = this.#byte();
      this.operand += (last & 0x7f) * 2 ** (7 * count);
    }
    if (last >= 0x40) refuse("a block's type is not a type index", this.at);
  }

  #valueType(byte: number): void {
    if (!isValueType(byte)) refuse(`a value of type 0x${byte.toString(16)} is not allowed in a delegate`, this.at);
  }

  #memArg(): void {
    if ((this.#bytes[this.pos] ?? 0) >= 0x40) refuse("an access to a second memory is not allowed in a delegate", this.at);
    this.#skipNumber();
    this.#skipNumber();
  }

  // An i64.const has at most ten bytes, any other number fewer.
  #skipNumber(): void {
    for (let count = 0; count < 10; count += 1) if (this.#byte() < 0x80) return;
    refuse("a number in an instruction is too long", this.at);
  }

  #skip(length: number): void {
    this.pos += length;
    if (this.pos > this.#end) refuse("an instruction is cut short", this.at);
  }

  #byte(): number {
    if (this.pos >= this.#end) refuse("an instruction is cut short", this.at);
    const byte = this.#bytes[this.pos] ?? 0;
    this.pos += 1;
    return byte;
  }
}

function exceptionOr(opcode: number): string {
  const exceptions = (opcode >= 0x06 && opcode <= 0x0a) || opcode === 0x18 || opcode === 0x19 || opcode === 0x1f;
  return exceptions ? "exception handling" : `the instruction 0x${opcode.toString(16)}`;
}
