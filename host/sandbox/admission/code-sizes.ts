// Estimated bytes of V8's machine code for each instruction: the larger of the two compilers' code, on x86-64, rounded up. A memory access or an
// addition has some ten bytes; a few instructions have many more.

/** The frame of a function and its meter. */
export const codeBytesOfFunction = 150;
/** One value that a branch, a block or a call moves. */
export const codeBytesOfMovedValue = 24;
/** One entry of a branch table. */
export const codeBytesOfTarget = 25;

const ofOther = 12;
const ofVector = 140;
const ofBulk = 300;
const plain = new Uint16Array(256).fill(ofOther);
function set(bytes: number, ...ranges: readonly (readonly [from: number, to: number])[]): void {
  for (const [from, to] of ranges) plain.fill(bytes, from, to + 1);
}
set(60, [0x10, 0x10], [0x12, 0x12]); // call, return_call
set(600, [0x11, 0x11], [0x13, 0x13]); // call_indirect, return_call_indirect
set(60, [0x25, 0x26], [0xd2, 0xd2]); // table.get, table.set, ref.func
set(100, [0x03, 0x03], [0x40, 0x40]); // loop, with its meter; memory.grow
set(220, [0x6d, 0x70], [0x7f, 0x82]); // division
set(280, [0xa8, 0xab], [0xae, 0xb1]); // conversions that trap
set(60, [0x77, 0x78], [0x89, 0x8a], [0xb2, 0xbb], [0x96, 0x98], [0xa4, 0xa6]); // rotation; conversion to floats; min, max, copysign

/** The estimate for an instruction without the values that it moves. `operation`: the number after a prefix. */
export function codeBytesOf(opcode: number, operation: number): number {
  if (opcode === 0xfd) return ofVector;
  if (opcode === 0xfc) return operation < 8 ? ofVector : ofBulk;
  return plain[opcode] ?? ofOther;
}
