// A short name for a long one, where a clash does no harm and nobody gains by making one.

/** FNV-1a of 64 bits, as 16 hexadecimal digits. Not for secrets; node:crypto takes 14 ms of a call's start to load. */
export function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
