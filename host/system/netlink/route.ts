// Routes of RTM_GETROUTE, and the messages that remove one, restore one, or add a default route (linux/rtnetlink.h).

import { formatCidr, type IpAddress } from "../../../src/net/ip.ts";
import { attribute, Attributes, u32Attribute, type NetlinkRequest } from "./message.ts";
import { addressBytes, addressIn, addressText, concat, u16, u32, u16At, u32At } from "./bytes.ts";

/** A route as the kernel lists it. */
export interface Route {
  readonly family: 4 | 6;
  /** CIDR notation; `0.0.0.0/0` and `::/0` for a default route. */
  readonly dst: string;
  /** A gateway of the destination's family. */
  readonly gateway: string | undefined;
  /** A gateway of the other family (RTA_VIA). */
  readonly via: string | undefined;
  /** Index of the outgoing link; undefined where there are several, or none (`unreachable`). */
  readonly oif: number | undefined;
  /** 0 is the kernel's own default for IPv4, 1024 for IPv6. */
  readonly metric: number;
  readonly table: number;
  /** RT_SCOPE_*: 0 universe, 253 link, 254 host. */
  readonly scope: number;
  /** RTN_*: 1 unicast, 7 unreachable, … */
  readonly type: number;
  /** The origin, RTPROT_*: 2 the kernel, 3 boot, 4 static, … */
  readonly protocol: number;
  /** RTNH_F_ONLINK: the gateway counts as reachable on the link without a route to it. */
  readonly onlink: boolean;
  readonly prefsrc: string | undefined;
  /** Whether the route has several next hops, which this type does not list. */
  readonly multipath: boolean;
  /** The kernel's message, which names exactly this route again. */
  readonly raw: Uint8Array;
}

/** A default route to add. `gateway` or `oif` may be absent, not both. */
export interface DefaultRoute {
  readonly family: 4 | 6;
  /** Undefined: all destinations are on the link. */
  readonly gateway: IpAddress | undefined;
  /** Index of the link; undefined: the link through which the gateway is reached. */
  readonly oif: number | undefined;
  /** Undefined: the kernel's default. */
  readonly metric?: number;
  /** RTNH_F_ONLINK: the gateway counts as reachable on the link without a route to it. Requires the link. */
  readonly onlink?: boolean;
}

/** The table of routes that name none. */
export const MAIN_TABLE = 254;

const RTM_NEWROUTE = 24;
const RTM_DELROUTE = 25;
const RTM_GETROUTE = 26;
const NLM_F_DUMP = 0x300;
const NLM_F_EXCL = 0x200;
const NLM_F_CREATE = 0x400;
const AF_INET = 2;
const AF_INET6 = 10;
const RTMSG = 12;
const RTM_F_CLONED = 0x200;
const RTNH_F_ONLINK = 4;
const RTPROT_STATIC = 4;
const RT_SCOPE_UNIVERSE = 0;
const RT_SCOPE_LINK = 253;
const RTN_UNICAST = 1;

const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_PRIORITY = 6;
const RTA_PREFSRC = 7;
const RTA_MULTIPATH = 9;
const RTA_TABLE = 15;
const RTA_VIA = 18;
const RTA_NH_ID = 30;
/** The attributes of a next hop. A next hop object (RTA_NH_ID) replaces them; the kernel refuses both together. */
const NEXT_HOP: ReadonlySet<number> = new Set([RTA_OIF, RTA_GATEWAY, RTA_MULTIPATH, RTA_VIA, 21, 22]);
/** The attributes that define a route: DST, SRC, METRICS, PREF, ENCAP_TYPE, ENCAP and the above. The rest of a dump is its state. */
const MADE_OF: ReadonlySet<number> = new Set([1, 2, 4, 5, 6, 7, 8, 9, 15, 18, 20, 21, 22, 30]);

/** Requests the routes of a family, of all tables. */
export function routesRequest(family: 4 | 6): NetlinkRequest {
  const body = new Uint8Array(RTMSG);
  body[0] = family === 4 ? AF_INET : AF_INET6;
  return { type: RTM_GETROUTE, flags: NLM_F_DUMP, body };
}

/** The route in a message; undefined for a message of another type and for a cached copy of a route. */
export function routeIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): Route | undefined {
  if (type !== RTM_NEWROUTE || body.length < RTMSG) return undefined;
  const [family, dstLength = 0, , , table = 0, protocol = 0, scope = 0, kind = 0] = body;
  const flags = u32At(body, 8);
  if ((family !== AF_INET && family !== AF_INET6) || (flags & RTM_F_CLONED) !== 0) return undefined;
  const version = family === AF_INET ? 4 : 6;
  const attributes = new Attributes(body, RTMSG);
  const address = (which: number): string | undefined => addressText(attributes.get(which), version);
  const dst = addressIn(attributes.get(RTA_DST), version) ?? { family: version, value: 0n };
  const via = attributes.get(RTA_VIA);
  return {
    family: version,
    dst: formatCidr({ address: dst, prefix: dstLength }),
    gateway: address(RTA_GATEWAY),
    via: via === undefined ? undefined : addressText(via.subarray(2), u16At(via, 0) === AF_INET ? 4 : 6),
    oif: attributes.u32(RTA_OIF),
    metric: attributes.u32(RTA_PRIORITY) ?? 0,
    table: attributes.u32(RTA_TABLE) ?? table,
    scope,
    type: kind,
    protocol,
    onlink: (flags & RTNH_F_ONLINK) !== 0,
    prefsrc: address(RTA_PREFSRC),
    multipath: attributes.has(RTA_MULTIPATH),
    raw: body.slice(),
  };
}

/** Removes the route. */
export function listedRouteRemoval(route: Route): NetlinkRequest {
  return { type: RTM_DELROUTE, flags: 0, body: again(route) };
}

/**
 * Restores a removed route; an equal one stays unchanged (EEXIST). IPv6 allows several routes to one destination with one metric (fe80::/64
 * on each link) and refuses a duplicate without EXCL.
 */
export function routeRestoration(route: Route): NetlinkRequest {
  const flags = route.family === 4 ? NLM_F_CREATE | NLM_F_EXCL : NLM_F_CREATE;
  return { type: RTM_NEWROUTE, flags, body: again(route) };
}

/** Adds a default route; an existing one with the same metric stays unchanged (EEXIST). */
export function defaultRouteAddition({ family, gateway, oif, metric, onlink = false }: DefaultRoute): NetlinkRequest {
  const scope = gateway === undefined && family === 4 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  const fixed = Uint8Array.of(family === 4 ? AF_INET : AF_INET6, 0, 0, 0, MAIN_TABLE, RTPROT_STATIC, scope, RTN_UNICAST);
  const attributes = [
    ...(gateway === undefined ? [] : [nextHop(family, gateway)]),
    ...(oif === undefined ? [] : [u32Attribute(RTA_OIF, oif)]),
    ...(metric === undefined ? [] : [u32Attribute(RTA_PRIORITY, metric)]),
  ];
  return {
    type: RTM_NEWROUTE,
    flags: NLM_F_CREATE | NLM_F_EXCL,
    body: concat([fixed, u32(onlink ? RTNH_F_ONLINK : 0), ...attributes]),
  };
}

/** The attribute of a gateway. One of the other family has its own attribute (RTA_VIA), which begins with the family. */
export function nextHop(family: 4 | 6, gateway: IpAddress): Uint8Array {
  const bytes = addressBytes(gateway);
  if (gateway.family === family) return attribute(RTA_GATEWAY, bytes);
  return attribute(RTA_VIA, concat([u16(gateway.family === 4 ? AF_INET : AF_INET6), bytes]));
}

/** The kernel's message of a route, reduced to the attributes that define it. */
function again({ raw }: Route): Uint8Array {
  const fixed = raw.slice(0, RTMSG);
  fixed.set(u32(u32At(raw, 8) & RTNH_F_ONLINK), 8);
  const attributes = new Attributes(raw, RTMSG);
  const named = attributes.has(RTA_NH_ID);
  const wanted = [...attributes].filter(([type]) => MADE_OF.has(type) && !(named && NEXT_HOP.has(type)));
  return concat([fixed, ...wanted.map(([type, value]) => attribute(type, value))]);
}
