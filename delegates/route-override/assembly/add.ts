// ADD: removes routes in one call, then adds each new route by itself, because a route that the kernel refuses does not stop the others.

import { apply, LinkName, Operation, RouteChange } from "plexus/abi/links";
import { Level, write } from "plexus/abi/log";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, Route, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { invalidConfig } from "plexus/faults";
import { LinkRoutes, podLinks } from "./pod-links";
import { Settings } from "./settings";

/** RT_SCOPE_LINK: the destination is on the link. */
const scopeLink: u32 = 253;

/** Answers the result with the routes that remain, and the added ones. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null)
    return SuccessOrFault.err(
      invalidConfig("prevResult", "is missing: route-override follows the plugin that makes the interface"),
    );
  const links = podLinks(request, result);
  const fault = removeRoutes(settings, result, links);
  if (fault !== null) return SuccessOrFault.err(fault);
  for (let i = 0; i < settings.addRoutes.length; i++) {
    result.routes.push(settings.addRoutes[i]);
    const added = apply([Operation.addRoute(changeOf(links[0], settings.addRoutes[i]))]);
    if (!added.isOk) write(Level.Warn, `addroutes[${i}]: ${settings.addRoutes[i].dst} was not added: ${added.error.msg}`);
  }
  return SuccessOrFault.ok(result);
}

/** Removes routes from the pod and from the result; null on success. */
function removeRoutes(settings: Settings, result: Success, links: Array<LinkName>): Fault | null {
  const removed = removedFromResult(settings, result);
  const operations = new Array<Operation>();
  for (let i = 0; i < links.length; i++) {
    const present = LinkRoutes.of(links[i]);
    if (present.fault !== null) return present.fault;
    for (let j = 0; j < present.routes.length; j++) {
      const route = present.routes[j];
      if (isFlushed(settings, route) || hasDestination(removed, route))
        operations.push(Operation.deleteRoute(changeOf(links[i], route)));
    }
  }
  if (operations.length == 0) return null;
  const applied = apply(operations);
  return applied.isOk ? null : applied.error;
}

/** Takes routes out of the result, and with `flushgateway` the gateways, too. Answers the routes that were taken out. */
function removedFromResult(settings: Settings, result: Success): Array<Route> {
  const removed = new Array<Route>();
  const kept = new Array<Route>();
  for (let i = 0; i < result.routes.length && !settings.flushRoutes; i++) {
    const route = result.routes[i];
    const isRemoved = hasDestination(settings.delRoutes, route) || (settings.flushGateway && isDefault(route));
    (isRemoved ? removed : kept).push(route);
  }
  result.routes = kept;
  for (let i = 0; i < result.ips.length && settings.flushGateway; i++)
    result.ips[i].gateway = result.ips[i].address.includes(":") ? "::" : "0.0.0.0";
  return removed;
}

/** Whether the pod's route goes: with `flushroutes` each that leads through a gateway, with `flushgateway` each default route. */
function isFlushed(settings: Settings, route: Route): bool {
  if (isDefault(route)) return settings.flushGateway || (settings.flushRoutes && !isOnLink(route));
  return settings.flushRoutes && route.gw !== null && !isOnLink(route) && !isLinkLocal(route);
}

function isDefault(route: Route): bool {
  return route.dst.endsWith("/0");
}

function isOnLink(route: Route): bool {
  const scope = route.scope;
  return scope !== null && scope.value == scopeLink;
}

/** 169.254.0.0/16 and fe80::/10. */
function isLinkLocal(route: Route): bool {
  const dst = Cidr.parse(route.dst);
  if (dst === null) return false;
  const range = Cidr.parse(dst.ip.family == 4 ? "169.254.0.0/16" : "fe80::/10") as Cidr;
  return range.contains(dst.ip);
}

function hasDestination(routes: Array<Route>, wanted: Route): bool {
  const dst = Cidr.parse(wanted.dst);
  for (let i = 0; dst !== null && i < routes.length; i++) {
    const each = Cidr.parse(routes[i].dst);
    if (each !== null && each.prefix == dst.prefix && each.ip.equals(dst.ip)) return true;
  }
  return false;
}

function changeOf(link: LinkName, route: Route): RouteChange {
  const change = new RouteChange(link.place, route, false);
  change.link = link;
  return change;
}
