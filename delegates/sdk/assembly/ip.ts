// One IP address. Text is read and printed like Go's net package does, because existing CNI plugins use it: no leading zeros, no
// zones, an IPv4-mapped IPv6 address is IPv4, and RFC 5952 for output.

import { hex } from "./hex";
import { readDotted, readGroups } from "./ip-text";

/** An immutable address: 32 bits in `lo`, or 128 bits in `hi` and `lo`. */
export class Ip {
  /** 4 or 6. */
  readonly family: i32;
  readonly hi: u64;
  readonly lo: u64;

  private constructor(family: i32, hi: u64, lo: u64) {
    this.family = family;
    this.hi = hi;
    this.lo = lo;
  }

  static v4(bits: u32): Ip {
    return new Ip(4, 0, bits);
  }

  /** An IPv4-mapped address becomes the IPv4 address. */
  static v6(hi: u64, lo: u64): Ip {
    return hi == 0 && lo >> 32 == 0xffff ? Ip.v4(<u32>lo) : new Ip(6, hi, lo);
  }

  /** An address of the same family as `like`, whatever its bits are. */
  static like(like: Ip, hi: u64, lo: u64): Ip {
    return new Ip(like.family, hi, lo);
  }

  /** Reads an address; null if malformed. */
  static parse(text: string): Ip | null {
    // The longest spelling: eight groups, the last two in dotted decimal.
    if (text.length > 45) return null;
    if (text.indexOf(":") < 0) {
      const bits = readDotted(text, 0);
      return bits < 0 ? null : Ip.v4(<u32>bits);
    }
    const groups = readGroups(text);
    if (groups === null) return null;
    let hi: u64 = 0;
    let lo: u64 = 0;
    for (let i = 0; i < 4; i++) hi = (hi << 16) | groups[i];
    for (let i = 4; i < 8; i++) lo = (lo << 16) | groups[i];
    return Ip.v6(hi, lo);
  }

  /** 32 or 128. */
  get bits(): i32 {
    return this.family == 4 ? 32 : 128;
  }

  /** The address after this one; null after the last of the family. */
  next(): Ip | null {
    if (this.family == 4) return this.lo == 0xffff_ffff ? null : Ip.v4(<u32>this.lo + 1);
    const lo = this.lo + 1;
    const hi = lo == 0 ? this.hi + 1 : this.hi;
    return hi == 0 && lo == 0 ? null : new Ip(6, hi, lo);
  }

  /** The address before this one; null before the first of the family. */
  prev(): Ip | null {
    if (this.hi == 0 && this.lo == 0) return null;
    return new Ip(this.family, this.lo == 0 ? this.hi - 1 : this.hi, this.lo - 1);
  }

  /** This address with all bits after the first `prefix` bits cleared. */
  mask(prefix: i32): Ip {
    return new Ip(this.family, this.hi & maskHi(this.family, prefix), this.lo & maskLo(this.family, prefix));
  }

  /** This address with all bits after the first `prefix` bits set. */
  fill(prefix: i32): Ip {
    const all: u64 = this.family == 4 ? 0xffff_ffff : u64.MAX_VALUE;
    const hi = this.family == 4 ? 0 : this.hi | ~maskHi(6, prefix);
    return new Ip(this.family, hi, this.lo | (all & ~maskLo(this.family, prefix)));
  }

  /** Negative, zero or positive: IPv4 before IPv6, then by value. */
  compare(other: Ip): i32 {
    if (this.family != other.family) return this.family - other.family;
    if (this.hi != other.hi) return this.hi < other.hi ? -1 : 1;
    return this.lo == other.lo ? 0 : this.lo < other.lo ? -1 : 1;
  }

  equals(other: Ip): bool {
    return this.family == other.family && this.hi == other.hi && this.lo == other.lo;
  }

  /** Canonical text: dotted decimal, or RFC 5952. */
  toString(): string {
    if (this.family == 4) {
      const v = <u32>this.lo;
      return `${v >> 24}.${(v >> 16) & 255}.${(v >> 8) & 255}.${v & 255}`;
    }
    let gap = -1;
    let gapLength = 1;
    for (let i = 0; i < 8; i++) {
      let end = i;
      while (end < 8 && this.group(end) == 0) end++;
      if (end - i > gapLength) {
        gap = i;
        gapLength = end - i;
      }
      if (end > i) i = end - 1;
    }
    let text = "";
    for (let i = 0; i < 8; i++) {
      if (i == gap) {
        text += "::";
        i += gapLength - 1;
        continue;
      }
      if (i > 0 && (gap < 0 || i != gap + gapLength)) text += ":";
      text += hex(this.group(i));
    }
    return text;
  }

  private group(index: i32): u32 {
    const half = index < 4 ? this.hi : this.lo;
    return <u32>(half >> (48 - <u64>(index & 3) * 16)) & 0xffff;
  }
}

function maskHi(family: i32, prefix: i32): u64 {
  if (family == 4) return 0;
  return prefix >= 64 ? u64.MAX_VALUE : prefix <= 0 ? 0 : u64.MAX_VALUE << (64 - prefix);
}

function maskLo(family: i32, prefix: i32): u64 {
  // A v4 address is the low half's low half.
  const ones = family == 4 ? prefix + 32 : prefix - 64;
  const mask: u64 = ones >= 64 ? u64.MAX_VALUE : ones <= 0 ? 0 : u64.MAX_VALUE << (64 - ones);
  return family == 4 ? mask & 0xffff_ffff : mask;
}
