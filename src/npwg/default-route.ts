// Plans the default routes of a pod's network namespace (NPWG 4.1.2.1.9, decision D-08). The attachment whose selection has
// `default-route` keeps or gets them and all others lose theirs, separately for each address family. Planning only: existing
// routes come in as data, changes go out as data.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { type Family, readAddress, readCidr } from "../net/ip.ts";
import type { CniResult } from "../cni/result.ts";
import { sandboxInterfaces } from "./sandbox-interface.ts";

/** A route's next hop: a gateway, or a link without one. */
export interface RouteHop {
  readonly gateway?: string | undefined;
  readonly ifname?: string | undefined;
  /** The gateway counts as reachable although no address of the link covers it. */
  readonly onlink?: boolean | undefined;
}

/** A unicast route in the pod's network namespace. */
export interface InstalledRoute extends RouteHop {
  readonly family: Family;
  /** Undefined, `0.0.0.0/0` and `::/0` mean the default route. */
  readonly dst: string | undefined;
  readonly metric?: number | undefined;
  /** Undefined: the main table. */
  readonly table?: number | undefined;
  /** A multipath route has next hops instead of a gateway and link. */
  readonly nexthops?: readonly RouteHop[] | undefined;
}

/** A default route to be added. */
export interface NewRoute extends RouteHop {
  readonly family: Family;
  readonly ifname: string;
  readonly metric: number;
}

/** One attachment; attachments are in the order of the plan. */
export interface RoutedAttachment {
  /** For messages: `default`, or the definition's name. */
  readonly source: string;
  /** The attachment's interfaces in the pod, CNI_IFNAME's first; see `linksOf`. */
  readonly links: readonly [string, ...string[]];
  /** The selection's `default-route`; undefined without this key. */
  readonly gateways: readonly string[] | undefined;
  /** The families to which the key is limited; undefined: no limit. */
  readonly families?: readonly Family[] | undefined;
}

/** Changes of one attachment's result. */
export interface ResultRoutes {
  /** Families whose default routes and gateways are removed from the result. */
  readonly cleared: ReadonlySet<Family>;
  /** Families whose default routes are replaced by these. */
  readonly replaced: ReadonlyMap<Family, readonly NewRoute[]>;
}

/** Changes of a pod's routes and of its attachments' results. */
export interface DefaultRoutePlan<Installed extends InstalledRoute = InstalledRoute> {
  /** Routes to remove, before `add` in its order. */
  readonly remove: readonly Installed[];
  readonly add: readonly NewRoute[];
  /** One element for each attachment. */
  readonly results: readonly ResultRoutes[];
}

/** Linux' main table. Other tables belong to policy routing and stay unchanged. */
const mainTable = 254;
/** RT_TABLE_UNSPEC: the kernel puts such a route into the main table. */
const unspecifiedTable = 0;
const families: readonly Family[] = [4, 6];
/** The kernel's metric of a route without one, which the first gateway gets. */
const firstMetric: Readonly<Record<Family, number>> = { 4: 0, 6: 1024 };

/** The destination of a default route. */
export const anywhere: Readonly<Record<Family, string>> = { 4: "0.0.0.0/0", 6: "::/0" };

/** An attachment's interfaces in the pod: those of its result, CNI_IFNAME first; or CNI_IFNAME if the result names none. */
export function linksOf(result: CniResult, ifname: string): readonly [string, ...string[]] {
  const names = sandboxInterfaces(result).flatMap((each) => (each.interface.name === "" ? [] : [each.interface.name]));
  const [first = ifname, ...others] = names.toSorted((left, right) => Number(right === ifname) - Number(left === ifname));
  return [first, ...others];
}

/** The family of a default route of the main table, as a result has it; undefined for any other route. */
export function defaultFamilyOf(dst: string, table: number = mainTable): Family | undefined {
  if (table !== mainTable && table !== unspecifiedTable) return undefined;
  const cidr = readCidr(dst);
  return cidr?.prefix === 0 ? cidr.address.family : undefined;
}

/** Whether any selection has `default-route`. Without one the routes are neither read nor changed (section 6). */
export function wantsDefaultRoute(attachments: readonly Pick<RoutedAttachment, "gateways">[]): boolean {
  return attachments.some((each) => each.gateways !== undefined);
}

/** The families that a `default-route` requests. An empty list keeps the network's gateways, so it requests both. */
export function claimedFamilies(gateways: readonly string[]): ReadonlySet<Family> {
  if (gateways.length === 0) return new Set<Family>([4, 6]);
  return new Set(gateways.flatMap((each) => readAddress(each)?.family ?? []));
}

/**
 * Plans the changes. A family that no selection requests stays unchanged. In a requested family, default routes through other
 * attachments' links are removed, with any metric, with or without gateway. The chosen attachment gets a route for each of its
 * gateways, with rising metrics, or keeps its own routes if its list is empty. Links that belong to no attachment, and tables
 * other than the main one, stay unchanged. Fault SELECTION_INVALID: two attachments request one family.
 */
export function planDefaultRoutes<Installed extends InstalledRoute>(
  attachments: readonly RoutedAttachment[],
  installed: readonly Installed[],
): Result<DefaultRoutePlan<Installed>> {
  const remove: Installed[] = [];
  const add: NewRoute[] = [];
  const results = attachments.map(() => ({ cleared: new Set<Family>(), replaced: new Map<Family, readonly NewRoute[]>() }));
  for (const family of families) {
    const claimants = attachments.filter(
      ({ gateways, families: limit = families }) =>
        gateways !== undefined && limit.includes(family) && claimedFamilies(gateways).has(family),
    );
    const [chosen, second] = claimants;
    if (chosen === undefined) continue;
    if (second !== undefined) return failed(contested(family, chosen, second));
    const wanted = wantedRoutes(chosen, family, installed);
    const present = installed.filter((route) => route.family === family && isDefault(route));
    const change = wanted === undefined ? keepChosen(chosen, attachments, present) : replaceAll(wanted, attachments, present);
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

/** Empty list: the chosen attachment keeps its plugins' routes, and the others' are removed. */
function keepChosen<Installed extends InstalledRoute>(
  chosen: RoutedAttachment,
  attachments: readonly RoutedAttachment[],
  present: readonly Installed[],
): Change<Installed> {
  const chosenLinks = new Set(chosen.links);
  const otherLinks = new Set(attachments.flatMap(({ links }) => links.filter((link) => !chosenLinks.has(link))));
  const remove = present.filter((route) => hopsOf(route).some(({ ifname }) => ifname !== undefined && otherLinks.has(ifname)));
  // A multipath route continues over the links that stay.
  const add = remove.flatMap((route) => {
    const staying = hopsOf(route).flatMap((hop) =>
      hop.ifname !== undefined && chosenLinks.has(hop.ifname) ? [{ ...hop, ifname: hop.ifname }] : [],
    );
    const first = route.metric ?? firstMetric[route.family];
    return staying.map((hop, index) => ({ ...hop, family: route.family, metric: first + index }));
  });
  return { remove, add };
}

/** Named gateways: their routes become the only default routes over any attachment's link. */
function replaceAll<Installed extends InstalledRoute>(
  wanted: readonly NewRoute[],
  attachments: readonly RoutedAttachment[],
  present: readonly Installed[],
): Change<Installed> {
  const allLinks = new Set(attachments.flatMap(({ links }) => links));
  const podRoutes = present.filter((route) => hopsOf(route).some(({ ifname }) => ifname !== undefined && allLinks.has(ifname)));
  const installedAs = (route: NewRoute): Installed | undefined => podRoutes.find((each) => isSame(each, route));
  const kept = new Set(wanted.map(installedAs));
  return {
    remove: podRoutes.filter((route) => !kept.has(route)),
    add: wanted.filter((route) => installedAs(route) === undefined),
  };
}

/** The chosen attachment's routes of the family; undefined if it keeps its existing ones. */
function wantedRoutes(
  { gateways = [], links }: RoutedAttachment,
  family: Family,
  installed: readonly InstalledRoute[],
): readonly NewRoute[] | undefined {
  const familyGateways = [...new Set(gateways)].filter((each) => readAddress(each)?.family === family);
  if (familyGateways.length === 0) return undefined;
  const [ifname] = links;
  return familyGateways.map((gateway, index) => {
    const sameRoute = installed.find((route) => route.ifname === ifname && sameAddress(route.gateway, gateway));
    const metric = firstMetric[family] + index;
    return { family, gateway, ifname, metric, ...(sameRoute?.onlink === true ? { onlink: true } : {}) };
  });
}

function isDefault({ family, dst = anywhere[family], table }: InstalledRoute): boolean {
  return defaultFamilyOf(dst, table) === family;
}

function hopsOf(route: InstalledRoute): readonly RouteHop[] {
  return route.nexthops !== undefined && route.nexthops.length > 0 ? route.nexthops : [route];
}

function isSame(installed: InstalledRoute, { family, gateway, ifname, metric }: NewRoute): boolean {
  const isSinglePath = (installed.nexthops ?? []).length === 0;
  return (
    isSinglePath &&
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
  return fault(
    "SELECTION_INVALID",
    `default-route: ${both} both request the pod's IPv${family} default route; remove default-route from one of them`,
  );
}
