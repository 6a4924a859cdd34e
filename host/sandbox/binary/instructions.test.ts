import { expect, test } from "vitest";
import { Instructions } from "./instructions.ts";
import { leb } from "./writer.ts";

const spaces = { func: 2, table: 1, global: 1 };
/** A byte that begins no instruction of any proposal that V8 implements. */
const marker = 0xff;

/** A module with one definition of each kind that an instruction can name. Its first function has one local and this code. */
function moduleOf(code: readonly number[]): Uint8Array<ArrayBuffer> {
  const body = [1, 1, 0x7f, ...code];
  const section = [2, ...leb(body.length), ...body, 2, 0, 0x0b];
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const types = [1, 4, 1, 0x60, 0, 0, 3, 3, 2, 0, 0];
  const defined = [4, 4, 1, 0x70, 0, 4, 5, 3, 1, 0, 1, 6, 6, 1, 0x7f, 1, 0x41, 0, 0x0b];
  const elements = [9, 7, 1, 0, 0x41, 0, 0x0b, 1, 0, 12, 1, 1];
  const data = [11, 3, 1, 1, 0];
  return Uint8Array.from([header, types, defined, elements, [10, ...leb(section.length)], section, data].flat());
}

/** Length of the immediates according to `Instructions`; undefined if it refuses the instruction. */
function immediatesOf(opcode: readonly number[]): number | undefined {
  const instructions = new Instructions(Uint8Array.from([...opcode, ...Array<number>(40).fill(0)]), 0, 40, spaces);
  try {
    instructions.next();
    return instructions.pos - opcode.length;
  } catch {
    return undefined;
  }
}

/** V8's error for the instruction in unreachable code (where operands have any type), with the marker after its immediates. */
function compileError(opcode: readonly number[], immediates: number): string {
  const bytes = moduleOf([0x00, ...opcode, ...Array<number>(immediates).fill(0), marker, 0x0b]);
  const at = bytes.findLastIndex((byte, index) => byte === marker && bytes[index + 1] === 0x0b);
  try {
    return String(new WebAssembly.Module(bytes));
  } catch (error) {
    return String(error).replace(`@+${at}`, "at the marker");
  }
}

const plain = Array.from({ length: 0xfb }, (_, opcode) => [opcode]);
const prefixed = [0xfc, 0xfd].flatMap((prefix) => Array.from({ length: 0x180 }, (_, opcode) => [prefix, ...leb(opcode)]));
/** V8 refuses these for their context: else, end, a select without a type. */
const contextual = ["5", "11", "28"];

test("every allowed instruction has the length that V8 assumes", () => {
  const found = new Map<string, string>();
  let checked = 0;
  for (const opcode of [...plain, ...prefixed]) {
    const immediates = immediatesOf(opcode);
    if (immediates === undefined || contextual.includes(opcode.join())) continue;
    checked += 1;
    const error = compileError(opcode, immediates);
    // Some opcodes in the range of the vector instructions are unassigned.
    if (!/opcode 0xff at the marker|invalid simd opcode/i.test(error)) found.set(opcode.join(), error);
  }
  expect([...found]).toEqual([]);
  expect(checked).toBeGreaterThan(400);
});
