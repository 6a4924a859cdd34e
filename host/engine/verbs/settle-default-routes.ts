// Settles a pod's default routes once all its attachments are made (NPWG 4.1.2.1.9): in its namespace, and in the results that
// the runtime, the status, the cache and a later CHECK or DEL have of it. A failure fails the ADD, which undoes the attachments,
// and their routes with them.

import type { PluginResult } from "../../src/cni/result.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { readAddress } from "../../src/net/ip.ts";
import {
  type DefaultRoutePlan,
  type InstalledRoute,
  linksOf,
  type NewRoute,
  planDefaultRoutes,
  type RoutedAttachment,
} from "../../src/npwg/default-route.ts";
import { withDefaultRoutes } from "../../src/npwg/default-route-result.ts";
import { nextHopsOf } from "../netlink/next-hops.ts";
import { addDefaultRoute, deleteRoute, listLinks, listRoutes } from "../netlink/operations.ts";
import type { DefaultRoute, Route } from "../netlink/route.ts";
import type { Attached } from "./attachment-plan.ts";
import type { CallContext } from "./call-context.ts";
import { located } from "./located.ts";

/** Unicast: what leads somewhere. `unreachable` and its like are nobody's default route. */
const unicast = 1;

/** A route, and the kernel's own telling of it. */
interface Known extends InstalledRoute {
  readonly route: Route;
}

/**
 * Changes the namespace's default routes as the selections ask; answers the attachments with their results as they are
 * then. `context.call.netns` is the pod's. Faults: SELECTION_INVALID, NETLINK_FAILED, with the attachment that asks named.
 */
export async function settleDefaultRoutes(
  context: Pick<CallContext, "hands" | "call">,
  attached: readonly Attached[],
): Promise<Result<readonly Attached[]>> {
  const { hands, call } = context;
  const links = await listLinks(hands, call.netns);
  if (!links.ok) return links;
  const routes = await listRoutes(hands, call.netns);
  if (!routes.ok) return routes;
  const names = new Map(links.value.map(({ index, name }) => [index, name]));
  const indexes = new Map(links.value.map(({ index, name }) => [name, index]));
  const installed = routes.value.filter(({ type }) => type === unicast).map((route) => knownRoute(route, names));
  const routed = attached.map(routedAttachment);
  const planned = planDefaultRoutes(routed, installed);
  if (!planned.ok) return planned;
  const changed = await change(context, planned.value, indexes);
  if (!changed.ok) return failed(namedFault(changed.fault, routed));
  return edited(attached, planned.value);
}

function routedAttachment({ plan, result }: Attached): RoutedAttachment {
  const { source, attachment, request } = plan;
  return { source, links: linksOf(result.result, attachment.ifname), gateways: request?.selection.defaultRoute };
}

function knownRoute(route: Route, names: ReadonlyMap<number, string>): Known {
  const { family, dst, gateway, via, oif, metric, table, onlink } = route;
  const nexthops = nextHopsOf(route).map((hop) => ({ gateway: hop.gateway, ifname: names.get(hop.oif), onlink: hop.onlink }));
  const ifname = oif === undefined ? undefined : names.get(oif);
  return { family, dst, gateway: gateway ?? via, ifname, metric, table, onlink, nexthops, route };
}

async function change(
  { hands, call }: Pick<CallContext, "hands" | "call">,
  { remove, add }: DefaultRoutePlan<Known>,
  indexes: ReadonlyMap<string, number>,
): Promise<Result<void>> {
  for (const { route, ifname } of remove) {
    const removed = await deleteRoute(hands, call.netns, route, ifname);
    if (!removed.ok) return removed;
  }
  for (const route of add) {
    const oif = indexes.get(route.ifname);
    if (oif === undefined) return failed(fault("REQUEST_UNMET", `the pod has no interface "${route.ifname}" to route over`));
    const added = await addDefaultRoute(hands, call.netns, kernelRoute(route, oif), route.ifname);
    if (!added.ok) return added;
  }
  return ok(undefined);
}

function kernelRoute({ family, gateway, metric, onlink = false }: NewRoute, oif: number): DefaultRoute {
  return { family, gateway: gateway === undefined ? undefined : readAddress(gateway), oif, metric, onlink };
}

/** The attachment that asks for the routes is whose request failed. */
function namedFault(cause: Fault, routed: readonly RoutedAttachment[]): Fault {
  const asking = routed.find(({ gateways }) => gateways !== undefined);
  return asking === undefined ? cause : located({ ...cause, msg: `default-route: ${cause.msg}` }, asking.source, asking.links[0]);
}

function edited(attached: readonly Attached[], plan: DefaultRoutePlan<Known>): Result<readonly Attached[]> {
  const settled: Attached[] = [];
  for (const [index, each] of attached.entries()) {
    const routes = plan.results[index];
    const result: Result<PluginResult> = routes === undefined ? ok(each.result) : withDefaultRoutes(each.result, routes);
    if (!result.ok) return result;
    settled.push({ ...each, result: result.value });
  }
  return ok(settled);
}
