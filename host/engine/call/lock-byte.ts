// Which byte of the file of locks stands for a name.

/** The first bytes stand for themselves. */
const reserved = 16;

/**
 * From 16 to 2^53 - 1: 53 bits of two multiplicative hashes that end by mixing each other. Two names of one byte only make their
 * calls take turns; nobody gains by that.
 */
export function lockByte(name: string): number {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x9e3779b1);
    two = Math.imul(two ^ unit, 0x5f356495);
  }
  const low = mixed(one, two);
  const high = mixed(two, low);
  return Math.max(reserved, (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0));
}

function mixed(hash: number, other: number): number {
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
}
