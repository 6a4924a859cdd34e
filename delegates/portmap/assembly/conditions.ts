// `conditionsV4` and `conditionsV6`: arguments of iptables (`! -d 10.96.0.0/12`), or expressions of nft (`ip daddr != 10.96.0.0/12`), that compare a
// packet's addresses. Any other condition is refused: a mapping without its condition would accept more than intended.

import { Condition, Side } from "plexus/abi/firewall";
import { Cidr } from "plexus/cidr";
import { Ip } from "plexus/ip";

/** The conditions of one family. */
@final
export class Conditions {
  /** The only address of the node at which ports are mapped; null: all. */
  address: Ip | null = null;
  /** The other conditions. */
  readonly others: Array<Condition> = new Array<Condition>();

  /** Null: the conditions cannot be expressed. */
  static parse(text: string, family: i32): Conditions | null {
    const words = text.split(" ").filter((word) => word != "");
    const conditions = new Conditions();
    let at = 0;
    while (at < words.length) {
      const condition = iptablesCondition(words, at, family);
      const found = condition === null ? nftCondition(words, at, family) : condition;
      if (found === null || !conditions.add(found)) return null;
      at += found.words;
    }
    return conditions;
  }

  /** False: the side has a condition already. */
  private add(comparison: Comparison): bool {
    const side = comparison.side;
    const network = comparison.network;
    if (side == Side.Destination && this.address !== null) return false;
    for (let i = 0; i < this.others.length; i++) if (this.others[i].side == side) return false;
    if (side == Side.Destination && !comparison.negated && network.prefix == network.ip.bits) this.address = network.ip;
    else this.others.push(new Condition(side, comparison.negated, network.masked().toString()));
    return true;
  }
}

/** A comparison of one address, and the number of its words. */
@final
class Comparison {
  constructor(
    readonly side: Side,
    readonly negated: bool,
    readonly network: Cidr,
    readonly words: i32,
  ) {}
}

const destinationOptions: Array<string> = ["-d", "--dst", "--destination"];
const sourceOptions: Array<string> = ["-s", "--src", "--source"];

/** `[!] -d NETWORK` or `[!] -s NETWORK` at this word. */
function iptablesCondition(words: Array<string>, at: i32, family: i32): Comparison | null {
  const negated = words[at] == "!";
  const option = negated ? at + 1 : at;
  if (option + 1 >= words.length) return null;
  const isDestination = destinationOptions.includes(words[option]);
  if (!isDestination && !sourceOptions.includes(words[option])) return null;
  return comparison(isDestination ? Side.Destination : Side.Source, negated, words[option + 1], family, option + 2 - at);
}

/** `ip daddr [OPERATOR] NETWORK` or `ip saddr [OPERATOR] NETWORK` at this word, `ip6` for IPv6. */
function nftCondition(words: Array<string>, at: i32, family: i32): Comparison | null {
  if (at + 2 >= words.length || words[at] != (family == 4 ? "ip" : "ip6")) return null;
  const isDestination = words[at + 1] == "daddr";
  if (!isDestination && words[at + 1] != "saddr") return null;
  const operator = words[at + 2];
  const negated = operator == "!=" || operator == "ne";
  const network = negated || operator == "==" || operator == "eq" ? at + 3 : at + 2;
  if (network >= words.length) return null;
  return comparison(isDestination ? Side.Destination : Side.Source, negated, words[network], family, network + 1 - at);
}

function comparison(side: Side, negated: bool, text: string, family: i32, words: i32): Comparison | null {
  const network = Cidr.parseEither(text);
  return network === null || network.ip.family != family ? null : new Comparison(side, negated, network, words);
}
