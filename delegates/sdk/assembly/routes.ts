// Routes of a configuration, such as those that become the result's.

import { Route } from "./abi/types";
import { Some } from "./some";
import { Cidr } from "./cidr";
import { Config } from "./config";
import { Ip } from "./ip";
import { quote } from "./json";
import { folded } from "./folded";

const routeKeys: StaticArray<string> = ["dst", "gw", "mtu", "advmss", "priority", "table", "scope"];

/** Reads the routes of a member in canonical form; mistakes are recorded in the configuration's fault. */
export function readRoutes(from: Config, key: string = "routes"): Array<Route> {
  const routes = new Array<Route>();
  const list = from.list(key);
  if (list === null) return routes;
  for (let i = 0; i < list.length; i++) {
    const config = folded(from, list.at(i), `${key}[${i}]`, routeKeys);
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
