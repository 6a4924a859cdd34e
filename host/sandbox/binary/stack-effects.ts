// How an instruction changes the height of the operand stack. Calls, blocks and branches are not included: their types decide. An
// instruction that is valid only with other operands is refused by V8, which validates all code.

const plain = new Int8Array(256);
const prefixed = new Int8Array(18);
const vector = new Int8Array(0x114);

function fill(table: Int8Array, change: number, ...ranges: readonly (readonly [from: number, to: number])[]): void {
  for (const [from, to] of ranges) table.fill(change, from, to + 1);
}

// if; br_if, br_table; drop; local.set; global.set; binary operations and comparisons.
fill(plain, -1, [0x04, 0x04], [0x0d, 0x0e], [0x1a, 0x1a], [0x21, 0x21], [0x24, 0x24], [0x46, 0x4f], [0x51, 0x66]);
fill(plain, -1, [0x6a, 0x78], [0x7c, 0x8a], [0x92, 0x98], [0xa0, 0xa6]);
// select; table.set; stores.
fill(plain, -2, [0x1b, 0x1c], [0x26, 0x26], [0x36, 0x3e]);
// local.get; global.get; memory.size; constants; ref.null; ref.func.
fill(plain, 1, [0x20, 0x20], [0x23, 0x23], [0x3f, 0x3f], [0x41, 0x44], [0xd0, 0xd0], [0xd2, 0xd2]);
// memory.init, memory.copy, memory.fill, table.init, table.copy, table.fill; table.grow; table.size.
fill(prefixed, -3, [8, 8], [10, 12], [14, 14], [17, 17]);
fill(prefixed, -1, [15, 15]);
fill(prefixed, 1, [16, 16]);
// v128.const.
fill(vector, 1, [12, 12]);
// v128.store; bitselect; stores of lanes; fused multiplications, lane selections and sums of dot products.
fill(vector, -2, [11, 11], [82, 82], [88, 91], [0x105, 0x10c], [0x113, 0x113]);
// Shuffle and swizzle; replaced lanes; comparisons and logic; loads of lanes; binary operations and shifts.
fill(vector, -1, [13, 14], [23, 23], [26, 26], [28, 28], [30, 30], [32, 32], [34, 34], [35, 76], [78, 81], [84, 87]);
fill(vector, -1, [101, 102], [107, 115], [118, 121], [123, 123], [130, 130], [133, 134], [139, 147], [149, 153], [155, 159]);
fill(vector, -1, [171, 191], [203, 223], [228, 235], [240, 247], [0x100, 0x100], [0x10d, 0x112]);

/** The change of the stack's height by an instruction; for a branch, an `if` or a branch table: by its condition alone. `operation`: the number after a prefix. */
export function stackEffect(opcode: number, operation: number): number {
  const change = opcode === 0xfc ? prefixed[operation] : opcode === 0xfd ? vector[operation] : plain[opcode];
  return change ?? 0;
}
