// Shapes a result; values that the configuration does not mention pass unchanged.

import { SuccessOrFault } from "plexus/abi/plugin";
import { IpConfig, Route, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { ownFault } from "plexus/faults";
import { Some } from "plexus/some";
import { Shape } from "./shape";

/** All addresses are filtered out: an attachment without any would look like a success. */
export const NO_ADDRESS_LEFT: u32 = 100;

/** The shaped result; code 100 if no address is left. */
export function applyTo(previous: Success, shape: Shape): SuccessOrFault {
  const result = new Success();
  result.interfaces = previous.interfaces;
  result.ips = orderedIps(keptIps(previous.ips, shape), shape);
  if (result.ips.length == 0 && previous.ips.length > 0) {
    return SuccessOrFault.err(
      ownFault(NO_ADDRESS_LEFT, `ips.families and ips.subnets exclude all ${previous.ips.length} addresses of prevResult`),
    );
  }
  result.routes = shapedRoutes(previous.routes, shape);
  const dns = shape.dns;
  result.dns = dns === null ? previous.dns : dns.replaceIn(previous.dns);
  return SuccessOrFault.ok(result);
}

function keptIps(ips: Array<IpConfig>, shape: Shape): Array<IpConfig> {
  const found: Array<IpConfig> = [];
  for (let i = 0; i < ips.length; i++) {
    if (isKept(ips[i], shape)) found.push(ips[i]);
  }
  return found;
}

/** Whether the filters keep an address. */
export function isKept(config: IpConfig, shape: Shape): bool {
  const address = Cidr.parse(config.address);
  if (address === null) return false;
  if (shape.families.length > 0 && !shape.families.includes(address.ip.family)) return false;
  if (shape.subnets.length == 0) return true;
  for (let i = 0; i < shape.subnets.length; i++) {
    if (shape.subnets[i].contains(address.ip)) return true;
  }
  return false;
}

/** An address's position in the configured order; addresses of equal rank keep their order. */
export function rank(config: IpConfig, shape: Shape): i32 {
  const address = Cidr.parse(config.address);
  const at = address === null ? -1 : shape.order.indexOf(address.ip.family);
  return at < 0 ? shape.order.length : at;
}

function orderedIps(ips: Array<IpConfig>, shape: Shape): Array<IpConfig> {
  if (shape.order.length == 0) return ips;
  const found: Array<IpConfig> = [];
  for (let r = 0; r <= shape.order.length; r++) {
    for (let i = 0; i < ips.length; i++) {
      if (rank(ips[i], shape) == r) found.push(ips[i]);
    }
  }
  return found;
}

function shapedRoutes(routes: Array<Route>, shape: Shape): Array<Route> {
  const found: Array<Route> = [];
  for (let i = 0; i < routes.length; i++) {
    if (!isDropped(routes[i], shape)) found.push(routes[i]);
  }
  for (let i = 0; i < shape.add.length; i++) {
    if (!hasRoute(found, shape.add[i])) found.push(shape.add[i]);
  }
  return found;
}

/** Whether `routes.drop` has the route's destination. */
export function isDropped(route: Route, shape: Shape): bool {
  const dst = Cidr.parse(route.dst);
  return dst !== null && shape.drop.includes(dst.masked().toString());
}

/** Whether the list has an equal route. */
export function hasRoute(routes: Array<Route>, wanted: Route): bool {
  for (let i = 0; i < routes.length; i++) {
    if (sameRoute(routes[i], wanted)) return true;
  }
  return false;
}

/** Whether all members of two routes are equal. */
export function sameRoute(a: Route, b: Route): bool {
  return (
    a.dst == b.dst &&
    a.gw == b.gw &&
    same(a.mtu, b.mtu) &&
    same(a.advmss, b.advmss) &&
    same(a.priority, b.priority) &&
    same(a.table, b.table) &&
    same(a.scope, b.scope)
  );
}

function same(a: Some<u32> | null, b: Some<u32> | null): bool {
  if (a === null || b === null) return a === null && b === null;
  return a.value == b.value;
}
