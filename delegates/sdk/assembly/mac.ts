// Hardware addresses as Go's net package reads them, which existing configurations rely on.

/**
 * Reads an address into the kernel's spelling (`0a:58:0a:01:00:02`); null if malformed. Groups of two hexadecimal digits with `:`
 * or `-`, or of four with `.`; 6, 8 or 20 bytes.
 */
export function readMac(text: string): string | null {
  if (text.length < 14) return null;
  const dotted = text.charCodeAt(4) == 0x2e;
  const group = dotted ? 4 : 2;
  const separator = text.charCodeAt(group);
  if (!dotted && separator != 0x3a && separator != 0x2d) return null;
  if ((text.length + 1) % (group + 1) != 0) return null;
  const bytes = ((text.length + 1) / (group + 1)) * (group / 2);
  if (bytes != 6 && bytes != 8 && bytes != 20) return null;
  let digits = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (i % (group + 1) == group) {
      if (code != separator) return null;
      continue;
    }
    if (!isHexDigit(code)) return null;
    if (digits.length % 3 == 2) digits += ":";
    digits += String.fromCharCode(code >= 0x41 && code <= 0x46 ? code | 0x20 : code);
  }
  return digits;
}

/** Whether two texts are the same address. */
export function sameMac(a: string, b: string): bool {
  const one = readMac(a);
  const other = readMac(b);
  return one !== null && other !== null && one == other;
}

function isHexDigit(code: i32): bool {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x66);
}
