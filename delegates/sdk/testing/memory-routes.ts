// Routes over simulated links, with the kernel's rules for equal routes (net/ipv4/fib_trie.c, net/ipv6/ip6_fib.c).

import type { LinksInstalledRoute, LinksLinkName, Route } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { readCidr } from "../../../src/net/ip.ts";
import { type KnownLink, type LinkTable, networkText } from "./link-table.ts";
import { type OperationOf, Refusal, type VisibleLinks } from "./visible-links.ts";

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
  const refused = links.table.refusalOf(known, route, onLink);
  if (refused !== undefined) throw new Refusal(refused);
  addRoute(links.table, over, known, { ...route, source });
  return at === undefined ? [] : [at];
}

/** The link of the pod that reaches the gateway. A vector need not list the addresses of all links. */
function linkTo(links: VisibleLinks, gateway: string): KnownLink | undefined {
  const known = links.table.linkTo(links.pod, gateway);
  if (known === undefined && links.table.strict) throw new Refusal(`the pod reaches no gateway ${gateway}`);
  return known;
}

/** Adds a route. A route of the same destination, metric and table over any of `links` stays as it is. */
function addRoute(
  table: LinkTable,
  links: readonly KnownLink[],
  known: KnownLink,
  route: Omit<LinksInstalledRoute, "link">,
): void {
  const dst = networkText(route.dst);
  const priority = route.priority || (table.strict && isIPv6(dst) ? ipv6Metric : undefined);
  const added = { ...route, dst, priority, link: known.link.name };
  const exists = links
    .flatMap((each) => table.routesOver(each))
    .some((each) => keyOf(each) === keyOf(added) && metricOf(each) === metricOf(added));
  if (!exists) known.routes.push(added);
}

/** Removes the route of the lowest metric that has all members of `route`. */
function removeRoute(table: LinkTable, links: readonly KnownLink[], route: Route): void {
  const [first] = links
    .flatMap((known) => table.routesOver(known).map((each) => ({ known, route: each })))
    .filter(({ route: each }) => matches(each, route))
    .toSorted((a, b) => metricOf(a.route) - metricOf(b.route));
  if (first === undefined) return;
  const { known } = first;
  if (known.routes.includes(first.route)) known.routes = known.routes.filter((each) => each !== first.route);
  else known.removedNetworks = [...(known.removedNetworks ?? []), first.route.dst];
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

function metricOf({ priority }: Route): number {
  return priority ?? 0;
}

function isIPv6(dst: string): boolean {
  return readCidr(dst)?.address.family === 6;
}
