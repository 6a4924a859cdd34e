// Routes over simulated links, with the kernel's rules for equal routes (net/ipv4/fib_trie.c, net/ipv6/ip6_fib.c).

import type {
  LinksInstalledRoute,
  LinksLinkName,
  LinksPlace,
  Route,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { readCidr } from "../../../src/net/ip.ts";
import { refuseRoute } from "./kernel-route-rules.ts";
import { type KnownLink, type LinkTable, networkText } from "./link-table.ts";
import { Refusal } from "./refusal.ts";
import { type OperationOf, type VisibleLinks } from "./visible-links.ts";

const mainTable = 254;
/** `IP6_RT_PRIO_USER`: the metric of an IPv6 route that names none. */
const ipv6Metric = 1024;

/** Adds or deletes a route. Answers the link that the operation named. */
export function changeRoute(links: VisibleLinks, operation: OperationOf<"add-route" | "delete-route">): readonly LinksLinkName[] {
  const { link: at, place, route, onLink, source } = operation.val;
  const over = links.at(at?.place ?? place);
  const named = at === undefined ? undefined : links.find(at);
  if (operation.tag === "delete-route") {
    removeRoute(links.table, named === undefined ? over : [named], route);
    return at === undefined ? [] : [at];
  }
  const known = named ?? linkTo(links, route.gw ?? "");
  if (known === undefined) return [];
  if (links.table.strict)
    refuseRoute(links.table, at?.place === "host" ? "host" : links.pod, known, { ...route, source, onLink });
  addRoute(links.table, at?.place ?? place, over, known, { ...route, source });
  return at === undefined ? [] : [at];
}

/** The link of the pod that reaches the gateway. A vector need not list the addresses of all links. */
function linkTo(links: VisibleLinks, gateway: string): KnownLink | undefined {
  const known = links.table.linkTo(links.pod, gateway);
  if (known === undefined && links.table.strict) throw new Refusal(`the pod reaches no gateway ${gateway}`);
  return known;
}

/**
 * Adds a route before those of the same destination, metric and table. On the node, such a route over any of `links` keeps the new one away; in the pod only
 * an equal one does.
 */
function addRoute(
  table: LinkTable,
  place: LinksPlace,
  links: readonly KnownLink[],
  known: KnownLink,
  route: Omit<LinksInstalledRoute, "link">,
): void {
  const dst = networkText(route.dst);
  const priority = route.priority || (table.strict && isIPv6(dst) ? ipv6Metric : undefined);
  const added = { ...route, dst, priority, table: tableOf(route), link: known.link.name };
  const rivals = links
    .flatMap((each) => table.routesOver(each))
    .filter((each) => keyOf(each) === keyOf(added) && metricOf(each) === metricOf(added));
  const isKept = place === "host" ? rivals.length > 0 : rivals.some((each) => isEqual(each, added));
  if (isKept) return;
  const before = known.routes.findIndex((each) => keyOf(each) === keyOf(added) && metricOf(each) === metricOf(added));
  // The kernel lists the next hops of IPv6 in their order.
  if (before < 0 || isIPv6(dst)) known.routes.push(added);
  else known.routes.splice(before, 0, added);
}

/** Whether the kernel takes two routes of one destination, metric and table for the same: of IPv6 it compares the next hops alone. */
function isEqual(one: LinksInstalledRoute, other: LinksInstalledRoute): boolean {
  const isSameHop = one.gw === other.gw && one.link === other.link;
  if (isIPv6(one.dst)) return isSameHop;
  return (
    isSameHop &&
    one.mtu === other.mtu &&
    one.advmss === other.advmss &&
    one.source === other.source &&
    (one.scope ?? 0) === (other.scope ?? 0)
  );
}

/** Removes the route of the lowest metric that has all members of `route`: an added one before that of an address, before which it stands. */
function removeRoute(table: LinkTable, links: readonly KnownLink[], route: Route): void {
  const [first] = links
    .flatMap((known) => table.routesOver(known).map((each) => ({ known, route: each })))
    .filter(({ route: each }) => matches(each, route))
    .toSorted((a, b) => metricOf(a.route) - metricOf(b.route) || Number(isAdded(b)) - Number(isAdded(a)));
  if (first === undefined) return;
  const { known } = first;
  if (known.routes.includes(first.route)) known.routes = known.routes.filter((each) => each !== first.route);
  else known.removedNetworks = [...(known.removedNetworks ?? []), first.route.dst];
}

function isAdded({ known, route }: { readonly known: KnownLink; readonly route: LinksInstalledRoute }): boolean {
  return known.routes.includes(route);
}

function matches(existing: Route, { dst, gw, priority, table, scope }: Route): boolean {
  return (
    keyOf(existing) === keyOf({ dst, table }) &&
    (gw === undefined || existing.gw === gw) &&
    (!priority || metricOf(existing) === priority) &&
    (scope === undefined || (existing.scope ?? 0) === scope)
  );
}

function keyOf({ dst, table }: Pick<Route, "dst" | "table">): string {
  return `${networkText(dst)} ${table || mainTable}`;
}

/** The table as the kernel answers it: none for the main table. */
function tableOf({ table }: Route): number | undefined {
  return table === undefined || table === 0 || table === mainTable ? undefined : table;
}

function metricOf({ priority }: Route): number {
  return priority ?? 0;
}

function isIPv6(dst: string): boolean {
  return readCidr(dst)?.address.family === 6;
}
