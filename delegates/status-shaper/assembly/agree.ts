// CHECK: the attachment's result must still match the configuration.

import { Dns, Fault, Success } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { hasRoute, isDropped, isKept, rank } from "./apply";
import { DnsShape, Shape } from "./shape";

/** The result does not match the configuration. */
export const DISAGREES: u32 = 101;

/** The first difference; null if result and configuration agree. */
export function disagreement(result: Success, shape: Shape): Fault | null {
  let before = 0;
  for (let i = 0; i < result.ips.length; i++) {
    const ip = result.ips[i];
    if (!isKept(ip, shape)) return differs(`ips[${i}]: ${ip.address} is excluded by ips.families or ips.subnets`);
    const position = rank(ip, shape);
    if (position < before) return differs(`ips[${i}]: ${ip.address} comes too late: ips.order puts its family earlier`);
    before = position;
  }
  for (let i = 0; i < result.routes.length; i++) {
    const route = result.routes[i];
    if (isDropped(route, shape) && !hasRoute(shape.add, route)) return differs(`routes[${i}]: ${route.dst} is in routes.drop`);
  }
  for (let i = 0; i < shape.add.length; i++) {
    if (!hasRoute(result.routes, shape.add[i])) return differs(`routes: ${shape.add[i].dst} is missing`);
  }
  const dns = shape.dns;
  return dns === null ? null : dnsDisagreement(result.dns, dns);
}

function dnsDisagreement(dns: Dns | null, shape: DnsShape): Fault | null {
  const found = dns === null ? new Dns() : dns;
  if (!sameList(shape.nameservers, found.nameservers)) return differs("dns.nameservers differ");
  if (!sameList(shape.search, found.search)) return differs("dns.search differs");
  if (!sameList(shape.options, found.options)) return differs("dns.options differ");
  if (shape.domain !== null && shape.domain != found.domain) return differs("dns.domain differs");
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
  return ownFault(DISAGREES, `the result does not match the configuration: ${what}`);
}
