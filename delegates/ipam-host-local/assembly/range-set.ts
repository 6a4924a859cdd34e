// A set of ranges: an attachment gets one address from each set.

import { AddressRange } from "plexus/abi/leases";
import { Config } from "plexus/config";
import { Ip } from "plexus/ip";
import { Json } from "plexus/json";
import { folded } from "plexus/folded";
import { Range, rangeKeys } from "./range";

/** Ranges of one family that do not overlap. */
@final
export class RangeSet {
  readonly ranges: Array<Range> = new Array<Range>();

  /** `place`: the set's path in the configuration, for messages. */
  constructor(readonly place: string) {}

  /** Reads a list of ranges and checks it as a whole. Mistakes are recorded in `parent`'s fault. */
  static read(parent: Config, json: Json, path: string): RangeSet {
    const set = new RangeSet(parent.where(path));
    if (!json.isArray && !json.isNull) {
      parent.refuse(path, `must be an array of ranges, is ${json.kindName}`);
      return set;
    }
    if (json.length == 0) parent.refuse(path, "is an empty range set: it needs at least one range with a subnet");
    for (let i = 0; i < json.length; i++) {
      const config = folded(parent, json.at(i), `${path}[${i}]`, rangeKeys);
      const range = config !== null ? Range.read(config) : null;
      if (range !== null) set.add(parent, `${path}[${i}]`, range);
    }
    return set;
  }

  /** Adds a range; refuses a range that conflicts with the others. */
  private add(parent: Config, path: string, range: Range): void {
    for (let i = 0; i < this.ranges.length; i++) {
      const other = this.ranges[i];
      if (other.family != range.family) {
        parent.refuse(
          path,
          `is an IPv${range.family} range in a set of IPv${other.family} ranges: each family needs a set of its own`,
        );
      } else if (other.overlaps(range)) {
        parent.refuse(path, `${range.toString()} overlaps with ${other.toString()} of the same set`);
      }
    }
    this.ranges.push(range);
  }

  get family(): i32 {
    return this.ranges[0].family;
  }

  /** The range with this address; null if none. */
  rangeOf(ip: Ip): Range | null {
    for (let i = 0; i < this.ranges.length; i++) if (this.ranges[i].contains(ip)) return this.ranges[i];
    return null;
  }

  overlaps(other: RangeSet): bool {
    for (let i = 0; i < this.ranges.length; i++) {
      for (let j = 0; j < other.ranges.length; j++) if (this.ranges[i].overlaps(other.ranges[j])) return true;
    }
    return false;
  }

  /** Whether this address is the gateway of a range: gateways are never assigned. */
  isGateway(ip: Ip): bool {
    for (let i = 0; i < this.ranges.length; i++) if (this.ranges[i].gateway.equals(ip)) return true;
    return false;
  }

  gateways(): Array<string> {
    return this.ranges.map<string>((range) => range.gateway.toString());
  }

  toAddressRanges(): Array<AddressRange> {
    return this.ranges.map<AddressRange>((range) => range.toAddressRange());
  }

  /** The set in messages: its path in the configuration, and its ranges. */
  toString(): string {
    return `${this.place} (${this.ranges.map<string>((range) => range.toString()).join(", ")})`;
  }
}
