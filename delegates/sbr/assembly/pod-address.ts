// The interface's addresses in a result.

import { Family } from "plexus/abi/links";
import { Rule } from "plexus/abi/routing";
import { Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Ip } from "plexus/ip";
import { Some } from "plexus/some";

/** An address of the interface, and its gateway. */
@final
export class PodAddress {
  constructor(
    readonly cidr: Cidr,
    readonly gateway: string | null,
  ) {}

  /** The address alone, as the source of a rule. */
  get source(): string {
    return new Cidr(this.cidr.ip, this.cidr.ip.bits).toString();
  }

  get family(): Family {
    return this.cidr.ip.family == 4 ? Family.Ipv4 : Family.Ipv6;
  }

  /** The rule that looks up `table` for packets from the address. */
  rule(table: u32): Rule {
    const rule = new Rule(this.family, table);
    rule.source = this.source;
    return rule;
  }
}

/** The addresses of a result, without those that name another interface. */
export function podAddresses(result: Success, ifname: string): Array<PodAddress> {
  const found: Array<PodAddress> = [];
  for (let i = 0; i < result.ips.length; i++) {
    const ip = result.ips[i];
    const index = ip.interface_;
    const count = result.interfaces.length;
    const names = index !== null && index.value >= 0 && index.value < count;
    if (names && result.interfaces[(index as Some<i32>).value].name != ifname) continue;
    const cidr = Cidr.parse(ip.address);
    if (cidr !== null) found.push(new PodAddress(cidr, ip.gateway));
  }
  return found;
}

/** Whether the rule's source is one of the addresses. */
export function isFrom(rule: Rule, addresses: Array<Ip>): bool {
  const text = rule.source;
  const source: Cidr | null = text === null ? null : Cidr.parse(text);
  if (source === null) return false;
  for (let i = 0; i < addresses.length; i++) if (source.ip.equals(addresses[i])) return true;
  return false;
}
