// CHECK: does the attachment's result still say what the configuration asks for?

import { Dns, Fault, Success } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { hasRoute, isDropped, mayStay, rank } from "./apply";
import { DnsShape, Shape } from "./shape";

/** The result is not what the configuration asks for. */
export const DISAGREES: u32 = 101;

/** The first difference; null where result and configuration agree. */
export function disagreement(result: Success, shape: Shape): Fault | null {
  let before = 0;
  for (let i = 0; i < result.ips.length; i++) {
    const ip = result.ips[i];
    if (!mayStay(ip, shape)) return differs(`ips[${i}]: ${ip.address} may not be there`);
    const own = rank(ip, shape);
    if (own < before) return differs(`ips[${i}]: ${ip.address} comes too late for ips.order`);
    before = own;
  }
  for (let i = 0; i < result.routes.length; i++) {
    const route = result.routes[i];
    if (isDropped(route, shape) && !hasRoute(shape.add, route)) return differs(`routes[${i}]: ${route.dst} may not be there`);
  }
  for (let i = 0; i < shape.add.length; i++) {
    if (!hasRoute(result.routes, shape.add[i])) return differs(`routes: ${shape.add[i].dst} is missing`);
  }
  const dns = shape.dns;
  return dns === null ? null : dnsDisagreement(result.dns, dns);
}

function dnsDisagreement(dns: Dns | null, shape: DnsShape): Fault | null {
  const found = dns === null ? new Dns() : dns;
  if (!sameList(shape.nameservers, found.nameservers)) return differs("dns.nameservers are not those of the configuration");
  if (!sameList(shape.search, found.search)) return differs("dns.search is not that of the configuration");
  if (!sameList(shape.options, found.options)) return differs("dns.options are not those of the configuration");
  if (shape.domain !== null && shape.domain != found.domain) return differs("dns.domain is not that of the configuration");
  return null;
}

function sameList(wanted: Array<string> | null, found: Array<string>): bool {
  if (wanted === null) return true;
  if (wanted.length != found.length) return false;
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i] != found[i]) return false;
  }
  return true;
}

function differs(what: string): Fault {
  return ownFault(DISAGREES, `the result does not agree with the configuration: ${what}`);
}
