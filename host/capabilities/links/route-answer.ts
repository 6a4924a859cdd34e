// Routes in the form of the WIT interface.

import type { LinksInstalledRoute } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { Attributes } from "../../system/netlink/message.ts";
import { nextHopsOf } from "../../system/netlink/next-hops.ts";
import { MAIN_TABLE, type Route } from "../../system/netlink/route.ts";

const RTM_HEADER = 12;
const RTA_METRICS = 8;
const RTAX_MTU = 2;
const RTAX_ADVMSS = 8;
const RTN_UNICAST = 1;

/** Whether the route leads packets over links: not a route such as `unreachable`, or to an address of the namespace itself. */
export function isUnicast({ type }: Route): boolean {
  return type === RTN_UNICAST;
}

/** The indexes of the links that routes lead over, each once. */
export function linkIndexesOf(routes: readonly Route[]): readonly number[] {
  return [...new Set(routes.flatMap((route) => hopsOf(route).flatMap(({ oif }) => oif ?? [])))];
}

/** The record `installed-route`, once for each next hop over a link that `nameOf` knows or, with `others`, over any link. */
export function routeAnswers(
  route: Route,
  nameOf: (index: number) => string | undefined,
  others: "left-out" | "unnamed",
): readonly LinksInstalledRoute[] {
  const metrics = new Attributes(route.raw, RTM_HEADER).within(RTA_METRICS);
  return hopsOf(route).flatMap(({ gateway, oif }) => {
    const link = oif === undefined ? undefined : nameOf(oif);
    if (link === undefined && others === "left-out") return [];
    return [
      {
        dst: route.dst,
        gw: gateway,
        mtu: metrics.u32(RTAX_MTU),
        advmss: metrics.u32(RTAX_ADVMSS),
        priority: route.metric === 0 ? undefined : route.metric,
        table: route.table === MAIN_TABLE ? undefined : route.table,
        scope: route.scope,
        link,
        source: route.prefsrc,
      },
    ];
  });
}

function hopsOf(route: Route): readonly { readonly gateway: string | undefined; readonly oif: number | undefined }[] {
  return route.multipath ? nextHopsOf(route) : [{ gateway: route.gateway ?? route.via, oif: route.oif }];
}
