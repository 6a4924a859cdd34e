// Hexadecimal numbers.

/** The number in lower-case hexadecimal digits. `toString(16)` would bring the code for every radix into a component. */
export function hex(value: u32): string {
  let text = "";
  do {
    const digit = value & 15;
    text = String.fromCharCode(digit < 10 ? 0x30 + digit : 0x57 + digit) + text;
    value >>= 4;
  } while (value != 0);
  return text;
}
