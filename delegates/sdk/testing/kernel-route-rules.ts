// The kernel's refusals of a route over a simulated link (fib_check_nh of net/ipv4/fib_semantics.c, ip6_validate_gw of net/ipv6/route.c).

import { cidrContains, formatAddress, type IpAddress, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { LinksInstalledRoute, Route } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { isMulticast } from "./kernel-rules.ts";
import type { KnownLink, LinkTable } from "./link-table.ts";
import { Refusal } from "./refusal.ts";

/** `RT_SCOPE_LINK`, `RT_SCOPE_NOWHERE`. */
const scopeLink = 253;
const scopeNowhere = 255;

/** A route with the terms of its request. */
type WantedRoute = Route & { readonly source?: string | undefined; readonly onLink: boolean };

/** Throws a Refusal for a route over `known` that the kernel refuses. `place`: the namespace of the link in the table. */
export function refuseRoute(table: LinkTable, place: string, known: KnownLink, wanted: WantedRoute): void {
  const why = refusalOf(table, place, known, wanted);
  if (why !== undefined)
    throw new Refusal(`adding the route ${wanted.dst}${wanted.gw === undefined ? "" : ` via ${wanted.gw}`}: ${why}`);
}

function refusalOf(table: LinkTable, place: string, known: KnownLink, wanted: WantedRoute): string | undefined {
  const { dst, gw, source, scope = 0, onLink } = wanted;
  if (!known.link.up) return `network is down: ${known.link.name} is down`;
  const isIPv4 = readCidr(dst)?.address.family === 4;
  if (isIPv4 && scope === scopeNowhere) return "invalid scope";
  const own = table.linksAt(place).flatMap(({ link }) => link.addresses.map(({ address }) => address.replace(/\/.*/, "")));
  const from = source === undefined ? undefined : readAddress(source);
  const isLoopback = from?.family === 4 && from.value >> 24n === 127n;
  if (from !== undefined && !isLoopback && !own.includes(formatAddress(from))) return "invalid source address: no link has it";
  const gateway = gw === undefined ? undefined : readAddress(gw);
  if (gateway === undefined) return undefined;
  return gateway.family === 4
    ? gatewayRefusal(table, known, gateway, { scope, onLink })
    : ipv6GatewayRefusal(table, place, known, gateway, { own, onLink });
}

function gatewayRefusal(
  table: LinkTable,
  known: KnownLink,
  gateway: IpAddress,
  { scope, onLink }: { readonly scope: number; readonly onLink: boolean },
): string | undefined {
  if (scope >= scopeLink) return "network is unreachable: a route of scope link or narrower has no gateway";
  const isBroadcast = known.link.addresses.some(({ address }) => {
    const cidr = readCidr(address);
    return cidr?.address.family === 4 && cidr.prefix < 31 && networkOf(cidr).last.value === gateway.value;
  });
  if (isBroadcast || isMulticast(formatAddress(gateway))) return "the gateway is no unicast address";
  if (onLink) return undefined;
  const onTheLink = table.routesOver(known).filter((route) => (route.scope ?? 0) >= scopeLink && isInMain(route));
  const own = known.link.addresses.map(({ address }) => ({ dst: `${address.replace(/\/.*/, "")}/32` }));
  return [...onTheLink, ...own].some(({ dst }) => contains(dst, gateway)) ? undefined : "network is unreachable";
}

function ipv6GatewayRefusal(
  table: LinkTable,
  place: string,
  known: KnownLink,
  gateway: IpAddress,
  { own, onLink }: { readonly own: readonly string[]; readonly onLink: boolean },
): string | undefined {
  const text = formatAddress(gateway);
  if (own.includes(text)) return "the gateway is an address of this side";
  if (isMulticast(text)) return "the gateway is no unicast address";
  if (onLink || contains("fe80::/10", gateway)) return undefined;
  const routes = table.linksAt(place).flatMap((each) => table.routesOver(each));
  const [best] = routes
    .filter((route) => isInMain(route) && contains(route.dst, gateway))
    .toSorted((a, b) => (readCidr(b.dst)?.prefix ?? 0) - (readCidr(a.dst)?.prefix ?? 0));
  return best !== undefined && best.gw === undefined && best.link === known.link.name ? undefined : "host is unreachable";
}

function isInMain({ table }: LinksInstalledRoute): boolean {
  return table === undefined || table === 254;
}

function contains(network: string, address: IpAddress): boolean {
  const cidr = readCidr(network);
  return cidr !== undefined && cidr.address.family === address.family && cidrContains(cidr, address);
}
