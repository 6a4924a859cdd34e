// Routes that a delegate adds and removes (linux/rtnetlink.h). They have no way to name another namespace.

import { type Cidr, type IpAddress, networkOf } from "../../../src/net/ip.ts";
import { attribute, nested, u32Attribute, type NetlinkRequest } from "./message.ts";
import { addressBytes, familyNumber, concat, u32 } from "./bytes.ts";
import { NLM_F_CREATE, NLM_F_ECHO, NLM_F_EXCL } from "./link-attributes.ts";
import { MAIN_TABLE, nextHop } from "./route.ts";

/** A route to add or remove. The kernel chooses absent members. */
export interface RouteSpec {
  readonly dst: Cidr;
  readonly gateway: IpAddress | undefined;
  /** Index of the outgoing link; undefined: the link through which the gateway is reached. */
  readonly oif: number | undefined;
  readonly source: IpAddress | undefined;
  readonly onLink: boolean;
  readonly mtu: number | undefined;
  readonly advmss: number | undefined;
  readonly priority: number | undefined;
  /** Undefined: the main one. */
  readonly table: number | undefined;
  /** RT_SCOPE_*; undefined: universe. */
  readonly scope: number | undefined;
}

const RTM_NEWROUTE = 24;
const RTM_DELROUTE = 25;
const RTNH_F_ONLINK = 4;
/** The route's protocol number, as other CNI plugins set it. */
const RTPROT_BOOT = 3;
const RT_SCOPE_NOWHERE = 255;
const RTN_UNICAST = 1;
/** The header has one byte for the table. */
const RT_TABLE_UNSPEC = 0;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_PRIORITY = 6;
const RTA_PREFSRC = 7;
const RTA_METRICS = 8;
const RTA_TABLE = 15;
const RTAX_MTU = 2;
const RTAX_ADVMSS = 8;

/**
 * Adds a route; an equal one stays unchanged (EEXIST). `others`: what a route to another next hop with the same destination, metric and table does. It
 * `excludes` the new one (EEXIST), or stays `beside` it: an IPv4 route then stands before it, IPv6 routes share the traffic, as for the reference plugins.
 */
export function routeAddition(route: RouteSpec, others: "excludes" | "beside"): NetlinkRequest {
  const metrics = [
    ...(route.mtu === undefined ? [] : [u32Attribute(RTAX_MTU, route.mtu)]),
    ...(route.advmss === undefined ? [] : [u32Attribute(RTAX_ADVMSS, route.advmss)]),
  ];
  const body = [
    header(route, route.scope ?? 0, RTPROT_BOOT, RTN_UNICAST),
    ...named(route),
    ...(route.source === undefined ? [] : [attribute(RTA_PREFSRC, addressBytes(route.source))]),
    ...(metrics.length === 0 ? [] : [nested(RTA_METRICS, metrics)]),
  ];
  const flags = others === "excludes" ? NLM_F_CREATE | NLM_F_EXCL : NLM_F_CREATE;
  return { type: RTM_NEWROUTE, flags, body: concat(body) };
}

/** Removes the first route that matches all given members; the kernel echoes it. */
export function routeRemoval(route: RouteSpec): NetlinkRequest {
  const scope = route.scope ?? RT_SCOPE_NOWHERE;
  return { type: RTM_DELROUTE, flags: NLM_F_ECHO, body: concat([header(route, scope, 0, 0), ...named(route)]) };
}

function header({ dst, table = MAIN_TABLE, onLink }: RouteSpec, scope: number, protocol: number, type: number): Uint8Array {
  const flags = onLink ? RTNH_F_ONLINK : 0;
  const byte = table > 255 ? RT_TABLE_UNSPEC : table;
  return concat([Uint8Array.of(familyNumber(dst.address.family), dst.prefix, 0, 0, byte, protocol, scope, type), u32(flags)]);
}

function named(route: RouteSpec): Uint8Array[] {
  const { dst, gateway, oif, priority, table = MAIN_TABLE } = route;
  return [
    attribute(RTA_DST, addressBytes(networkOf(dst).first)),
    ...(gateway === undefined ? [] : [nextHop(dst.address.family, gateway)]),
    ...(oif === undefined ? [] : [u32Attribute(RTA_OIF, oif)]),
    ...(priority === undefined ? [] : [u32Attribute(RTA_PRIORITY, priority)]),
    ...(table > 255 ? [u32Attribute(RTA_TABLE, table)] : []),
  ];
}
