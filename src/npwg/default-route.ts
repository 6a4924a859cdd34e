// Which default routes a pod's namespace shall have (NPWG 4.1.2.1.9, decision D-8): the attachment whose selection has
// `default-route` keeps or gets them, all others lose theirs, each address family for itself. Planning only: the routes that
// are there come in as data, what is to be changed goes out as data.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { type Family, readAddress, readCidr } from "../net/ip.ts";
import type { CniResult } from "../cni/result.ts";
import { sandboxInterfaces } from "./sandbox-interface.ts";
import { claimedFamilies } from "./selection-values.ts";

/** Where a route leads: through a gateway, or straight onto a link. */
export interface RouteHop {
  readonly gateway?: string | undefined;
  readonly ifname?: string | undefined;
  /** The gateway is taken for reachable although no address of the link's covers it. */
  readonly onlink?: boolean | undefined;
}

/** A unicast route as the pod's namespace has it. */
export interface InstalledRoute extends RouteHop {
  readonly family: Family;
  /** Undefined, `0.0.0.0/0` and `::/0` are the default route. */
  readonly dst: string | undefined;
  readonly metric?: number | undefined;
  /** The main table where undefined. */
  readonly table?: number | undefined;
  /** A route with several ways at once has no gateway and link of its own. */
  readonly nexthops?: readonly RouteHop[] | undefined;
}

/** A default route to be made. */
export interface NewRoute extends RouteHop {
  readonly family: Family;
  readonly ifname: string;
  readonly metric: number;
}

/** One attachment, in the order of the plan. */
export interface RoutedAttachment {
  /** For messages: `default`, or the definition. */
  readonly source: string;
  /** Its interfaces in the pod, its own first; see `linksOf`. */
  readonly links: readonly [string, ...string[]];
  /** The selection's `default-route`; undefined where it has no such key. */
  readonly gateways: readonly string[] | undefined;
}

/** What becomes of one attachment's result. */
export interface ResultRoutes {
  /** Families whose default routes and gateways go out of it. */
  readonly cleared: ReadonlySet<Family>;
  /** Families whose default routes are exactly these instead. */
  readonly replaced: ReadonlyMap<Family, readonly NewRoute[]>;
}

export interface DefaultRoutePlan<Installed extends InstalledRoute = InstalledRoute> {
  /** To be removed first, then `add` in its order. */
  readonly remove: readonly Installed[];
  readonly add: readonly NewRoute[];
  /** One for each attachment. */
  readonly results: readonly ResultRoutes[];
}

/** Linux' main table; routes of other tables are policy's, and stay. */
const mainTable = 254;
const families: readonly Family[] = [4, 6];
/** The metric that the kernel gives a route without one: what a single gateway gets. */
const firstMetric: Readonly<Record<Family, number>> = { 4: 0, 6: 1024 };

/** An attachment's interfaces in the pod: those of its result, or CNI_IFNAME where that names none. */
export function linksOf(result: CniResult, ifname: string): readonly [string, ...string[]] {
  const [first, ...others] = sandboxInterfaces(result).map((each) => each.interface.name);
  return first === undefined ? [ifname] : [first, ...others];
}

/** Whether a default-route request is among them: without one nothing is looked at and nothing changes (section 6). */
export function wantsDefaultRoute(attachments: readonly Pick<RoutedAttachment, "gateways">[]): boolean {
  return attachments.some((each) => each.gateways !== undefined);
}

/**
 * The plan. A family that no selection asks for is left alone. Of a family that is asked for, default routes through other
 * attachments' links go, whatever their metric, gateway or none; the chosen attachment gets a route for each of its
 * gateways, metrics rising in their order, or keeps its own where its list is empty. Links that belong to no attachment, and
 * other tables than the main one, are left alone. Fault SELECTION_INVALID: two attachments ask for one family.
 */
export function planDefaultRoutes<Installed extends InstalledRoute>(
  attachments: readonly RoutedAttachment[],
  installed: readonly Installed[],
): Result<DefaultRoutePlan<Installed>> {
  const remove: Installed[] = [];
  const add: NewRoute[] = [];
  const results = attachments.map(() => ({ cleared: new Set<Family>(), replaced: new Map<Family, readonly NewRoute[]>() }));
  for (const family of families) {
    const claimants = attachments.filter(({ gateways }) => gateways !== undefined && claimedFamilies(gateways).has(family));
    const [chosen, second] = claimants;
    if (chosen === undefined) continue;
    if (second !== undefined) return failed(contested(family, chosen, second));
    const wanted = wantedRoutes(chosen, family, installed);
    const present = installed.filter((route) => route.family === family && isDefault(route));
    const change = wanted === undefined ? keepOwn(chosen, attachments, present) : replaceOwn(wanted, attachments, present);
    remove.push(...change.remove);
    add.push(...change.add);
    for (const [index, attachment] of attachments.entries()) {
      if (attachment !== chosen) results[index]?.cleared.add(family);
      else if (wanted !== undefined) results[index]?.replaced.set(family, wanted);
    }
  }
  return ok({ remove, add, results });
}

type Change<Installed extends InstalledRoute> = Pick<DefaultRoutePlan<Installed>, "remove" | "add">;

/** An empty list: the chosen attachment's routes stay as its plugins made them, the others' go. */
function keepOwn<Installed extends InstalledRoute>(
  chosen: RoutedAttachment,
  attachments: readonly RoutedAttachment[],
  present: readonly Installed[],
): Change<Installed> {
  const own = new Set(chosen.links);
  const others = new Set(attachments.flatMap(({ links }) => links.filter((link) => !own.has(link))));
  const remove = present.filter((route) => hopsOf(route).some(({ ifname }) => ifname !== undefined && others.has(ifname)));
  // A route over several links at once leads on over those that stay.
  const add = remove.flatMap((route) => {
    const staying = hopsOf(route).flatMap((hop) =>
      hop.ifname !== undefined && own.has(hop.ifname) ? [{ ...hop, ifname: hop.ifname }] : [],
    );
    const first = route.metric ?? firstMetric[route.family];
    return staying.map((hop, index) => ({ ...hop, family: route.family, metric: first + index }));
  });
  return { remove, add };
}

/** Gateways were named: theirs are the only default routes over any attachment's link. */
function replaceOwn<Installed extends InstalledRoute>(
  wanted: readonly NewRoute[],
  attachments: readonly RoutedAttachment[],
  present: readonly Installed[],
): Change<Installed> {
  const all = new Set(attachments.flatMap(({ links }) => links));
  const ours = present.filter((route) => hopsOf(route).some(({ ifname }) => ifname !== undefined && all.has(ifname)));
  const standing = (route: NewRoute): Installed | undefined => ours.find((each) => isSame(each, route));
  const kept = new Set(wanted.map(standing));
  return { remove: ours.filter((route) => !kept.has(route)), add: wanted.filter((route) => standing(route) === undefined) };
}

/** The chosen attachment's routes of the family; undefined where it keeps those that it has. */
function wantedRoutes(
  { gateways = [], links }: RoutedAttachment,
  family: Family,
  installed: readonly InstalledRoute[],
): readonly NewRoute[] | undefined {
  const own = [...new Set(gateways)].filter((each) => readAddress(each)?.family === family);
  if (own.length === 0) return undefined;
  const [ifname] = links;
  return own.map((gateway, index) => {
    const like = installed.find((route) => route.ifname === ifname && sameAddress(route.gateway, gateway));
    const metric = firstMetric[family] + index;
    return { family, gateway, ifname, metric, ...(like?.onlink === true ? { onlink: true } : {}) };
  });
}

function isDefault({ family, dst, table = mainTable }: InstalledRoute): boolean {
  if (table !== mainTable) return false;
  if (dst === undefined) return true;
  const cidr = readCidr(dst);
  return cidr?.prefix === 0 && cidr.address.family === family;
}

function hopsOf(route: InstalledRoute): readonly RouteHop[] {
  return route.nexthops !== undefined && route.nexthops.length > 0 ? route.nexthops : [route];
}

function isSame(installed: InstalledRoute, { family, gateway, ifname, metric }: NewRoute): boolean {
  const one = (installed.nexthops ?? []).length === 0;
  return (
    one &&
    installed.ifname === ifname &&
    (installed.metric ?? firstMetric[family]) === metric &&
    sameAddress(installed.gateway, gateway)
  );
}

function sameAddress(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const [a, b] = [readAddress(left), readAddress(right)];
  return a !== undefined && a.family === b?.family && a.value === b.value;
}

function contested(family: Family, first: RoutedAttachment, second: RoutedAttachment): ReturnType<typeof fault> {
  const both = `${first.source} (${first.links[0]}) and ${second.source} (${second.links[0]})`;
  return fault("SELECTION_INVALID", `default-route: ${both} both ask for the pod's IPv${family} default route; only one may`);
}
