// The configuration's routes, which become the result's.

import { Route } from "plexus/abi/types";
import { Some } from "plexus/some";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { Ip } from "plexus/ip";
import { quote } from "plexus/json";
import { folded } from "plexus/folded";

const routeKeys: StaticArray<string> = ["dst", "gw", "mtu", "advmss", "priority", "table", "scope"];

/** Reads `routes` in canonical form; mistakes are recorded in the configuration's fault. */
export function readRoutes(ipam: Config): Array<Route> {
  const routes = new Array<Route>();
  const list = ipam.list("routes");
  if (list === null) return routes;
  for (let i = 0; i < list.length; i++) {
    const config = folded(ipam, list.at(i), `routes[${i}]`, routeKeys);
    const route = config !== null ? readRoute(config) : null;
    if (route !== null) routes.push(route);
  }
  return routes;
}

function readRoute(config: Config): Route | null {
  const dst = config.string("dst");
  if (dst === null) {
    config.refuse("dst", "is missing: a route needs its destination, such as 0.0.0.0/0");
    return null;
  }
  const destination = Cidr.parse(dst);
  if (destination === null) {
    config.refuse("dst", `${quote(dst)} is not a destination in CIDR notation such as 0.0.0.0/0`);
    return null;
  }
  const route = new Route(destination.toString());
  const gw = config.string("gw");
  if (gw !== null && gw != "") {
    const via = Ip.parse(gw);
    if (via === null) config.refuse("gw", `${quote(gw)} is not an IP address`);
    else route.gw = via.toString();
  }
  route.mtu = readCount(config, "mtu");
  route.advmss = readCount(config, "advmss");
  route.priority = readCount(config, "priority");
  route.table = readCount(config, "table");
  route.scope = readCount(config, "scope");
  return route;
}

function readCount(config: Config, key: string): Some<u32> | null {
  const value = config.member(key);
  if (value === null) return null;
  const count = value.asU32OrNull();
  if (count === null) config.refuse(key, `must be a whole number from 0 to ${u32.MAX_VALUE}, is ${value.toString()}`);
  return count;
}
