// Maps a name to the byte of the lock file that is its lock.

/** The first bytes of the lock file are not for names. */
const reserved = 16;

/**
 * A byte offset from 16 to 2^53 - 1: 53 bits of two multiplicative hashes that are mixed at the end. If two names have the same
 * byte, their calls run one after the other, which is harmless: the hash need not resist an attacker.
 */
export function lockByte(name: string): number {
  let [hashA, hashB] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    hashA = Math.imul(hashA ^ unit, 0x9e3779b1);
    hashB = Math.imul(hashB ^ unit, 0x5f356495);
  }
  const low = mixed(hashA, hashB);
  const high = mixed(hashB, low);
  return Math.max(reserved, (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0));
}

function mixed(hash: number, other: number): number {
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
}
