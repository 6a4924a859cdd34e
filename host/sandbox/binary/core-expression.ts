// Skips constant expressions of core WebAssembly (3.3.10): initial values of globals, offsets of segments.

import type { Reader } from "../../../wit/binary/reader.ts";
import { refuse } from "../../../wit/binary/refusal.ts";

/** Skips one constant expression. Refuses an instruction that is not constant or makes a GC object. */
export function skipConstantExpression(reader: Reader): void {
  for (;;) {
    const at = reader.pos;
    const opcode = reader.byte("a constant expression");
    switch (opcode) {
      case 0x0b: // end
        return;
      case 0x41: // i32.const
        reader.skipSigned(32, "i32.const");
        break;
      case 0x42: // i64.const
        reader.skipSigned(64, "i64.const");
        break;
      case 0x43: // f32.const
        reader.take(4, "f32.const");
        break;
      case 0x44: // f64.const
        reader.take(8, "f64.const");
        break;
      case 0x23: // global.get
      case 0xd2: // ref.func
        reader.u32("an index");
        break;
      case 0xd0: // ref.null
        if (reader.byte("ref.null") !== 0x70) refuse("ref.null of a type other than func is not allowed in a delegate", at);
        break;
      case 0x6a: // i32.add, sub, mul
      case 0x6b:
      case 0x6c:
      case 0x7c: // i64.add, sub, mul
      case 0x7d:
      case 0x7e:
        break;
      case 0xfd: // v128.const
        if (reader.u32("an opcode") !== 12) refuse("a vector instruction in a constant expression", at);
        reader.take(16, "v128.const");
        break;
      default:
        refuse(`opcode 0x${opcode.toString(16)} in a constant expression is not allowed in a delegate`, at);
    }
  }
}
