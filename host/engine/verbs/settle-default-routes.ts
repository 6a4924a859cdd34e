// Settles a pod's default routes after all its attachments are made (NPWG 4.1.2.1.9). The changes apply to the network namespace and to
// the results, which the runtime, the network status, the cache and a later CHECK or DEL read. A failure fails the ADD, which then
// undoes the attachments together with their routes.

import type { PluginResult } from "../../../src/cni/result.ts";
import { type Fault, fault, located } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readAddress } from "../../../src/net/ip.ts";
import {
  type DefaultRoutePlan,
  type InstalledRoute,
  linksOf,
  type NewRoute,
  planDefaultRoutes,
  type RoutedAttachment,
} from "../../../src/npwg/default-route.ts";
import { withDefaultRoutes } from "../../../src/npwg/default-route-result.ts";
import { nextHopsOf } from "../../system/netlink/next-hops.ts";
import { addDefaultRoute, deleteRoute, listLinks, listRoutes } from "../../system/netlink/operations.ts";
import type { DefaultRoute, Route } from "../../system/netlink/route.ts";
import type { Attached } from "../planned/attachment-plan.ts";
import type { Call } from "../call.ts";

/** The route type RTN_UNICAST. Only such a route leads to a destination; `unreachable` and similar types do not. */
const unicast = 1;

/** An installed route with the kernel's description of it. */
interface KnownRoute extends InstalledRoute {
  readonly route: Route;
}

/**
 * Changes the default routes of the pod's network namespace as the selections ask, and returns the attachments with their changed
 * results. Faults, with the asking attachment named: SELECTION_INVALID, REQUEST_UNMET, NETLINK_FAILED.
 */
export async function settleDefaultRoutes(call: Call, attached: readonly Attached[]): Promise<Result<readonly Attached[]>> {
  const { shim, request } = call;
  const links = await listLinks(shim, request.netns);
  if (!links.ok) return links;
  const routes = await listRoutes(shim, request.netns);
  if (!routes.ok) return routes;
  const names = new Map(links.value.map(({ index, name }) => [index, name]));
  const indexes = new Map(links.value.map(({ index, name }) => [name, index]));
  const installed = routes.value.filter(({ type }) => type === unicast).map((route) => knownRoute(route, names));
  const routed = attached.map(routedAttachment);
  const planned = planDefaultRoutes(routed, installed);
  if (!planned.ok) return planned;
  const changed = await change(call, planned.value, indexes);
  if (!changed.ok) return failed(withAskingAttachment(changed.fault, routed));
  return edited(attached, planned.value);
}

function routedAttachment({ plan, result }: Attached): RoutedAttachment {
  const { source, attachment, request } = plan;
  return {
    source,
    links: linksOf(result.result, attachment.ifname),
    gateways: request?.selection.defaultRoute,
    families: request?.selection.defaultRouteFamilies,
  };
}

function knownRoute(route: Route, names: ReadonlyMap<number, string>): KnownRoute {
  const { family, dst, gateway, via, oif, metric, table, onlink } = route;
  const nexthops = nextHopsOf(route).map((hop) => ({ gateway: hop.gateway, ifname: names.get(hop.oif), onlink: hop.onlink }));
  const ifname = oif === undefined ? undefined : names.get(oif);
  return { family, dst, gateway: gateway ?? via, ifname, metric, table, onlink, nexthops, route };
}

async function change(
  { shim, request }: Call,
  { remove, add }: DefaultRoutePlan<KnownRoute>,
  indexes: ReadonlyMap<string, number>,
): Promise<Result<void>> {
  for (const { route, ifname } of remove) {
    const removed = await deleteRoute(shim, request.netns, route, ifname);
    if (!removed.ok) return removed;
  }
  for (const route of add) {
    const oif = indexes.get(route.ifname);
    if (oif === undefined)
      return failed(fault("REQUEST_UNMET", `the pod has no interface "${route.ifname}", which the default route needs`));
    const added = await addDefaultRoute(shim, request.netns, kernelRoute(route, oif), route.ifname);
    if (!added.ok) return added;
  }
  return ok(undefined);
}

function kernelRoute({ family, gateway, metric, onlink = false }: NewRoute, oif: number): DefaultRoute {
  return { family, gateway: gateway === undefined ? undefined : readAddress(gateway), oif, metric, onlink };
}

/** The fault with the attachment named whose selection asks for the default route. */
function withAskingAttachment(cause: Fault, routed: readonly RoutedAttachment[]): Fault {
  const asking = routed.find(({ gateways }) => gateways !== undefined);
  return asking === undefined ? cause : located({ ...cause, msg: `default-route: ${cause.msg}` }, asking.source, asking.links[0]);
}

function edited(attached: readonly Attached[], plan: DefaultRoutePlan<KnownRoute>): Result<readonly Attached[]> {
  const settled: Attached[] = [];
  for (const [index, each] of attached.entries()) {
    const routes = plan.results[index];
    const result: Result<PluginResult> = routes === undefined ? ok(each.result) : withDefaultRoutes(each.result, routes);
    if (!result.ok) return result;
    settled.push({ ...each, result: result.value });
  }
  return ok(settled);
}
