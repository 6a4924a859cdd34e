// Compares the pod's interface with a result, like CHECK of the reference main plugins.

import { Address } from "./abi/links";
import { IpConfig, Route } from "./abi/types";
import { Cidr } from "./cidr";
import { Ip } from "./ip";
import { Some } from "./some";

/**
 * The first of the result's addresses that the interface lacks, or whose network has no route; null: none is missing. `ips`: the
 * addresses of this interface in the result; `found`: its actual addresses; `routes`: those of the pod's namespace, as `routes` of `links` has them
 * in the contract's version.
 */
export function missingAddress<R>(ifname: string, ips: Array<IpConfig>, found: Array<Address>, routes: Array<R>): string | null {
  for (let i = 0; i < ips.length; i++) {
    const wanted = Cidr.parse(ips[i].address);
    if (wanted === null || !hasAddress(found, wanted)) return `Failed to match addr ${ips[i].address} on interface ${ifname}`;
    // A network of one address has only its own route, in the table `local`.
    if (wanted.prefix < wanted.ip.bits && !leadsTo(routes, wanted.masked(), null, null)) {
      const gateway = ips[i].gateway;
      return `Failed to find Gateway ${gateway === null ? "<nil>" : gateway} for interface ${ifname}`;
    }
  }
  return null;
}

/**
 * The first of the result's routes that the pod's namespace lacks; null: none is missing. A default route may have any gateway.
 */
export function missingRoute<R>(wanted: Array<Route>, found: Array<R>): string | null {
  for (let i = 0; i < wanted.length; i++) {
    const dst = Cidr.parse(wanted[i].dst);
    if (dst === null) return `Invalid static route found ${wanted[i].dst}`;
    if (leadsTo(found, dst.masked(), dst.prefix == 0 ? null : wanted[i].gw, wanted[i].table)) continue;
    const gw = wanted[i].gw;
    return `Expected Route ${wanted[i].dst}${gw === null ? "" : ` via ${gw}`} not found in routing table`;
  }
  return null;
}

function hasAddress(found: Array<Address>, wanted: Cidr): bool {
  for (let i = 0; i < found.length; i++) {
    const one = Cidr.parse(found[i].address);
    if (one !== null && one.prefix == wanted.prefix && one.ip.equals(wanted.ip)) return true;
  }
  return false;
}

const mainTable: u32 = 254;

/** Whether a route is in the wanted table. A route without a table may be in any: a plugin such as vrf or sbr moves the routes of the main table. */
export function isInTable(wanted: Some<u32> | null, found: Some<u32> | null): bool {
  if (wanted === null || wanted.value == 0 || wanted.value == mainTable) return true;
  return found !== null && found.value == wanted.value;
}

function leadsTo<R>(routes: Array<R>, network: Cidr, gateway: string | null, table: Some<u32> | null): bool {
  const wanted: Ip | null = gateway === null ? null : Ip.parse(gateway);
  for (let i = 0; i < routes.length; i++) {
    const dst = Cidr.parse(routes[i].dst);
    if (dst === null || dst.prefix != network.prefix || !dst.network.equals(network.ip)) continue;
    if (!isInTable(table, routes[i].table)) continue;
    if (wanted === null) return true;
    const gw = routes[i].gw;
    const through: Ip | null = gw === null ? null : Ip.parse(gw);
    if (through !== null && through.equals(wanted)) return true;
  }
  return false;
}
