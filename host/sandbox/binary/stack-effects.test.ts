import { expect, test } from "vitest";
import { Instructions } from "./instructions.ts";
import { stackEffect } from "./stack-effects.ts";
import { leb } from "./writer.ts";

const spaces = { func: 1, table: 1, global: 1 };
/** An instruction that pushes one value, by its type. */
const pushes: readonly (readonly number[])[] = [
  [0x41, 0], // i32
  [0x42, 0], // i64
  [0x43, 0, 0, 0, 0], // f32
  [0x44, 0, 0, 0, 0, 0, 0, 0, 0], // f64
  [0xfd, 12, ...Array<number>(16).fill(0)], // v128
  [0xd0, 0x70], // funcref
];

/** The module up to its code: a function type, a function, a memory, a table, a global and an element segment. */
const before = [
  [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 4, 4, 1, 0x70, 0, 4, 5, 3, 1, 0, 1],
  [6, 6, 1, 0x7f, 1, 0x41, 0, 0x0b, 9, 7, 1, 0, 0x41, 0, 0x0b, 1, 0, 12, 1, 1],
].flat();
const dataSegment = [11, 3, 1, 1, 0];

/** Whether V8 accepts the code in a function with one local. */
function isValid(code: readonly number[]): boolean {
  const body = [1, 1, 0x7f, ...code, 0x0b];
  const section = [1, ...leb(body.length), ...body];
  return WebAssembly.validate(Uint8Array.from([before, [10, ...leb(section.length)], section, dataSegment].flat()));
}

/** All sequences of so many operands. */
function operands(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  const shorter = operands(count - 1);
  return pushes.flatMap((push) => shorter.map((rest) => [...push, ...rest]));
}

const sequences = [0, 1, 2, 3].flatMap((count) => operands(count).map((bytes) => ({ count, bytes })));

/** The change of the stack's height as V8 validates it; undefined if no operands make the instruction valid. */
function validatedEffect(instruction: readonly number[]): number | undefined {
  for (const { count, bytes } of sequences)
    for (const results of [0, 1])
      if (isValid([...bytes, ...instruction, ...Array<number>(results).fill(0x1a)])) return results - count;
  return undefined;
}

/** Calls, branches and blocks, whose effects depend on types, and a select without its type. */
const typed = [0x00, 0x02, 0x03, 0x04, 0x05, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x1c];
const plain = Array.from({ length: 0xfb }, (_, opcode) => [opcode]).filter(([opcode = 0]) => !typed.includes(opcode));
const prefixed = [0xfc, 0xfd].flatMap((prefix) => Array.from({ length: 0x180 }, (_, opcode) => [prefix, ...leb(opcode)]));

test("FI-03: every allowed instruction changes the stack's height as V8 validates it", () => {
  const wrong: string[] = [];
  let checked = 0;
  for (const opcode of [...plain, ...prefixed]) {
    // ref.null's immediate is a type, any other's may be zero.
    const zeros = Array<number>(20).fill(opcode[0] === 0xd0 ? 0x70 : 0);
    const instructions = new Instructions(Uint8Array.from([...opcode, ...zeros]), 0, 20, spaces);
    try {
      instructions.next();
    } catch {
      continue;
    }
    const effect = validatedEffect([...opcode, ...zeros.slice(0, instructions.pos - opcode.length)]);
    // Some opcodes in the range of the vector instructions are unassigned.
    if (effect === undefined) continue;
    checked += 1;
    const assumed = stackEffect(instructions.opcode, instructions.operation);
    if (assumed !== effect) wrong.push(`${opcode.join()}: ${assumed}, V8 says ${effect}`);
  }
  expect(wrong).toEqual([]);
  expect(checked).toBeGreaterThan(400);
});
