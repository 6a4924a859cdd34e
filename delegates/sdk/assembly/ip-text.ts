// The grammar of address text.

/** The 32 bits of dotted decimal from `at` to the end; -1 if malformed. Leading zeros are not allowed. */
export function readDotted(text: string, at: i32): i64 {
  let value: i64 = 0;
  let fields = 0;
  let digits = 0;
  let field = 0;
  const end = text.length;
  for (let i = at; i <= end; i++) {
    const code = i == end ? 0x2e : text.charCodeAt(i);
    if (code == 0x2e) {
      if (digits == 0 || fields == 4) return -1;
      value = value * 256 + field;
      fields++;
      digits = 0;
      field = 0;
    } else {
      const digit = code - 0x30;
      if (digit < 0 || digit > 9 || (digits > 0 && field == 0)) return -1;
      field = field * 10 + digit;
      digits++;
      if (field > 255) return -1;
    }
  }
  return fields == 4 ? value : -1;
}

function hexDigit(code: i32): i32 {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The eight groups of an IPv6 address; null if malformed. */
export function readGroups(text: string): StaticArray<u32> | null {
  const groups = new StaticArray<u32>(8);
  const end = text.length;
  let count = 0;
  let gap = -1;
  let at = 0;
  if (end >= 2 && text.charCodeAt(0) == 0x3a && text.charCodeAt(1) == 0x3a) {
    gap = 0;
    at = 2;
  }
  while (at < end) {
    if (count == 8) return null;
    const start = at;
    let group: u32 = 0;
    for (; at < end; at++) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) break;
      if (at - start == 4) return null;
      group = group * 16 + digit;
    }
    if (at < end && text.charCodeAt(at) == 0x2e) {
      const dotted = count <= 6 ? readDotted(text, start) : -1;
      if (dotted < 0) return null;
      groups[count++] = <u32>(dotted >> 16);
      groups[count++] = <u32>dotted & 0xffff;
      break;
    }
    if (at == start) return null;
    groups[count++] = group;
    if (at == end) break;
    if (text.charCodeAt(at) != 0x3a) return null;
    at++;
    if (at < end && text.charCodeAt(at) == 0x3a) {
      if (gap >= 0) return null;
      gap = count;
      at++;
    } else if (at == end) return null;
  }
  if (gap < 0) return count == 8 ? groups : null;
  if (count == 8) return null;
  const moved = count - gap;
  for (let i = 1; i <= moved; i++) groups[8 - i] = groups[count - i];
  for (let i = gap; i < 8 - moved; i++) groups[i] = 0;
  return groups;
}
