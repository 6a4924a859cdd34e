// ADD: a rule for each address, and the interface's routes in the table of the rule.

import { apply, InstalledRoute, LinkName, Operation, Place, RouteChange, routes } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { addRules, deleteRules, freeTables, Rule } from "plexus/abi/routing";
import { Fault, Route } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { invalidConfig } from "plexus/faults";
import { Ip } from "plexus/ip";
import { Some } from "plexus/some";
import { PodAddress, podAddresses } from "./pod-address";
import { Settings } from "./settings";

/** The kernel's metric for a route of IPv6 without one. */
const METRIC_IPV6: u32 = 1024;

/** The previous result is passed on unchanged. After a fault no rule and no route of this call remains. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(invalidConfig("prevResult", "This plugin must be called as chained plugin"));
  const ifname = request.attachment.ifname;
  if (result.ips.length == 0)
    return SuccessOrFault.err(invalidConfig("prevResult.ips", `No IP addresses supplied on interface: ${ifname}`));
  const addresses = podAddresses(result, ifname);
  // Without an address of the interface no rule would lead to its routes.
  if (addresses.length == 0) return SuccessOrFault.ok(result);
  const table = settings.table;
  const fault = table === null ? routeBySource(addresses, ifname) : addRules(Place.Pod, rulesOf(addresses, [table.value]));
  return fault === null ? SuccessOrFault.ok(result) : SuccessOrFault.err(fault);
}

/** One table for each address; the last serves all further ones. */
function rulesOf(addresses: Array<PodAddress>, tables: Array<u32>): Array<Rule> {
  const rules: Array<Rule> = [];
  for (let i = 0; i < addresses.length; i++) rules.push(addresses[i].rule(tables[min(i, tables.length - 1)]));
  return rules;
}

/** Moves the interface's routes into a table for each address. */
function routeBySource(addresses: Array<PodAddress>, ifname: string): Fault | null {
  const link = new LinkName(Place.Pod, ifname);
  const found = routes(link);
  if (!found.isOk) return found.error;
  const tables = freeTables(addresses.length);
  if (!tables.isOk) return tables.error;
  const moved: Array<InstalledRoute> = [];
  for (let i = 0; i < found.value.length; i++) if (found.value[i].table === null) moved.push(found.value[i]);

  const operations: Array<Operation> = [];
  for (let i = 0; i < addresses.length; i++) {
    const wanted = tableRoutes(addresses[i], moved, tables.value[i]);
    for (let n = 0; n < wanted.length; n++) operations.push(Operation.addRoute(changeOf(link, wanted[n], true)));
  }
  // Removed last: a gateway is reached by the routes of the main table while the others are added.
  for (let i = 0; i < moved.length; i++) operations.push(Operation.deleteRoute(changeOf(link, moved[i], false)));

  const rules = rulesOf(addresses, tables.value);
  const refused = addRules(Place.Pod, rules);
  if (refused !== null) return refused;
  if (operations.length == 0) return null;
  const applied = apply(operations);
  if (applied.isOk) return null;
  const fault = applied.error;
  const left = deleteRules(Place.Pod, rules);
  if (left !== null) fault.details = `the rules of ${ifname} could not be removed: ${left.msg}`;
  return fault;
}

/** The routes of an address' table: the default route by its gateway, and those of `moved` that are the address' or general. */
function tableRoutes(address: PodAddress, moved: Array<InstalledRoute>, table: u32): Array<InstalledRoute> {
  const wanted: Array<InstalledRoute> = [];
  const gateway = address.gateway;
  if (gateway !== null && gateway != "") {
    const route = new InstalledRoute(address.cidr.ip.family == 4 ? "0.0.0.0/0" : "::/0");
    route.gw = gateway;
    route.table = new Some<u32>(table);
    wanted.push(route);
  }
  for (let i = 0; i < moved.length; i++) {
    if (isOf(moved[i], address.cidr)) put(wanted, inTable(moved[i], table));
  }
  return wanted;
}

/** Whether the route's source or gateway is in the address' network, or the route has neither. */
function isOf(route: InstalledRoute, network: Cidr): bool {
  if (route.source === null && route.gw === null) return true;
  return isWithin(network, route.source) || isWithin(network, route.gw);
}

function isWithin(network: Cidr, text: string | null): bool {
  const ip: Ip | null = text === null ? null : Ip.parse(text);
  return ip !== null && ip.family == network.ip.family && network.contains(ip);
}

/** Adds a route in place of one with the same destination and metric, as the kernel replaces it. */
function put(routes: Array<InstalledRoute>, route: InstalledRoute): void {
  for (let i = 0; i < routes.length; i++) {
    if (routes[i].dst != route.dst || metricOf(routes[i]) != metricOf(route)) continue;
    routes[i] = route;
    return;
  }
  routes.push(route);
}

function metricOf(route: InstalledRoute): u32 {
  const priority = route.priority;
  if (priority !== null) return priority.value;
  return route.dst.indexOf(":") < 0 ? 0 : METRIC_IPV6;
}

function inTable(route: InstalledRoute, table: u32): InstalledRoute {
  const copy = new InstalledRoute(route.dst);
  copy.gw = route.gw;
  copy.mtu = route.mtu;
  copy.advmss = route.advmss;
  copy.priority = route.priority;
  copy.scope = route.scope;
  copy.source = route.source;
  copy.table = new Some<u32>(table);
  return copy;
}

/** The change of a route over the link. The kernel needs no source to find the route that it removes. */
function changeOf(link: LinkName, installed: InstalledRoute, withSource: bool): RouteChange {
  const route = new Route(installed.dst);
  route.gw = installed.gw;
  route.mtu = installed.mtu;
  route.advmss = installed.advmss;
  route.priority = installed.priority;
  route.table = installed.table;
  route.scope = installed.scope;
  const change = new RouteChange(Place.Pod, route, false);
  change.link = link;
  if (withSource) change.source = installed.source;
  return change;
}
