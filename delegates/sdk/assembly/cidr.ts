// An address with a prefix length.

import { Ip } from "./ip";

/** An address with a prefix length, such as `10.1.2.3/24`; the host part is kept. */
export class Cidr {
  readonly ip: Ip;
  /** Prefix length: 0 to 32, or 0 to 128. */
  readonly prefix: i32;

  constructor(ip: Ip, prefix: i32) {
    this.ip = ip;
    this.prefix = prefix;
  }

  /**
   * Reads an address with a prefix length; null if malformed. The prefix may have leading zeros, as in Go's net.ParseCIDR. An
   * IPv4-mapped address needs a prefix of at least 96.
   */
  static parse(text: string): Cidr | null {
    const slash = text.indexOf("/");
    if (slash < 0 || slash + 1 == text.length) return null;
    let prefix = 0;
    for (let i = slash + 1; i < text.length; i++) {
      const digit = text.charCodeAt(i) - 0x30;
      if (digit < 0 || digit > 9) return null;
      prefix = prefix * 10 + digit;
      if (prefix > 128) return null;
    }
    const literal = text.substring(0, slash);
    const ip = Ip.parse(literal);
    if (ip === null) return null;
    if (ip.family == 4 && literal.indexOf(":") >= 0) prefix -= 96;
    return prefix < 0 || prefix > ip.bits ? null : new Cidr(ip, prefix);
  }

  /**
   * Reads an address with or without a prefix length: CONVENTIONS.md allows both for `ips`. Without one it gets the full length.
   */
  static parseEither(text: string): Cidr | null {
    if (text.indexOf("/") >= 0) return Cidr.parse(text);
    const ip = Ip.parse(text);
    return ip === null ? null : new Cidr(ip, ip.bits);
  }

  /** The network's own address: all host bits 0. */
  get network(): Ip {
    return this.ip.mask(this.prefix);
  }

  /** The last address: all host bits 1, in v4 the broadcast address. */
  get last(): Ip {
    return this.ip.fill(this.prefix);
  }

  /** The same network without its host part. */
  masked(): Cidr {
    return new Cidr(this.network, this.prefix);
  }

  /** Whether the address is in this network; never across families. */
  contains(ip: Ip): bool {
    return ip.family == this.ip.family && ip.mask(this.prefix).equals(this.network);
  }

  /** Whether the two networks have a common address. */
  overlaps(other: Cidr): bool {
    return this.contains(other.network) || other.contains(this.network);
  }

  /** Whether network and prefix are equal; host parts are ignored. */
  sameNetwork(other: Cidr): bool {
    return this.prefix == other.prefix && this.network.equals(other.network);
  }

  toString(): string {
    return `${this.ip.toString()}/${this.prefix}`;
  }
}
