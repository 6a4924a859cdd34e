// One range of addresses within a subnet.

import { AddressRange } from "plexus/abi/leases";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { Ip } from "plexus/ip";
import { quote } from "plexus/json";

/** The keys of a range. */
export const rangeKeys: StaticArray<string> = ["subnet", "rangeStart", "rangeEnd", "gateway"];

/** Addresses from `first` to `last`, both included, and the subnet's data for the result. */
@final
export class Range {
  constructor(
    readonly first: Ip,
    readonly last: Ip,
    readonly gateway: Ip,
    /** Length of the subnet's prefix. */
    readonly prefix: i32,
  ) {}

  /** Reads a range and checks it; null, with the fault in `config`, if it breaks a rule. */
  static read(config: Config): Range | null {
    const subnet = readSubnet(config);
    if (subnet === null) return null;
    const gateway = readIp(config, "gateway", subnet.network.next() as Ip);
    const first = readIp(config, "rangeStart", subnet.network.next() as Ip);
    // The last address of an IPv4 subnet is its broadcast address: it is assigned only if `rangeEnd` names it.
    const last = readIp(config, "rangeEnd", subnet.ip.family == 4 ? (subnet.last.prev() as Ip) : subnet.last);
    if (gateway === null || first === null || last === null) return null;
    if (!subnet.contains(first))
      return refuse(config, "rangeStart", `${first.toString()} is not in the subnet ${subnet.toString()}`);
    if (!subnet.contains(last)) return refuse(config, "rangeEnd", `${last.toString()} is not in the subnet ${subnet.toString()}`);
    if (first.compare(last) > 0) {
      const key = config.has("rangeEnd") ? "rangeEnd" : "rangeStart";
      return refuse(config, key, `the range ${first.toString()}-${last.toString()} ends before it starts`);
    }
    return new Range(first, last, gateway, subnet.prefix);
  }

  get family(): i32 {
    return this.first.family;
  }

  contains(ip: Ip): bool {
    return ip.family == this.family && ip.compare(this.first) >= 0 && ip.compare(this.last) <= 0;
  }

  overlaps(other: Range): bool {
    return this.family == other.family && this.first.compare(other.last) <= 0 && other.first.compare(this.last) <= 0;
  }

  /** The range in the form of the capability `leases`. */
  toAddressRange(): AddressRange {
    return new AddressRange(this.first.toString(), this.last.toString());
  }

  toString(): string {
    return `${this.first.toString()}-${this.last.toString()}`;
  }
}

function readSubnet(config: Config): Cidr | null {
  const text = config.string("subnet");
  if (text === null) {
    config.refuse("subnet", "is missing: a range needs its subnet, such as 10.1.0.0/24");
    return null;
  }
  const subnet = Cidr.parse(text);
  if (subnet === null) {
    config.refuse("subnet", `${quote(text)} is not a subnet in CIDR notation such as 10.1.0.0/24 or fd00:1::/64`);
    return null;
  }
  if (subnet.ip.family == 4 && text.indexOf(":") >= 0) {
    config.refuse("subnet", `${text} is an IPv4 subnet written as IPv6: write ${subnet.toString()}`);
    return null;
  }
  if (subnet.prefix > subnet.ip.bits - 2) {
    const maxPrefix = subnet.ip.bits - 2;
    config.refuse("subnet", `${text} is too small: the prefix must be at most /${maxPrefix}`);
    return null;
  }
  if (!subnet.ip.equals(subnet.network)) {
    config.refuse("subnet", `${text} has host bits set: the network is ${subnet.masked().toString()}`);
    return null;
  }
  return subnet;
}

/** An address; `otherwise` if absent or empty. */
function readIp(config: Config, key: string, otherwise: Ip): Ip | null {
  const text = config.string(key);
  if (text === null || text == "") return otherwise;
  const ip = Ip.parse(text);
  if (ip === null) config.refuse(key, `${quote(text)} is not an IP address`);
  return ip;
}

function refuse(config: Config, key: string, why: string): Range | null {
  config.refuse(key, why);
  return null;
}
