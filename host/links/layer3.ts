// Addresses, routes and neighbours of a link.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { type Cidr, cidrContains, formatCidr, type IpAddress, readAddress, readCidr } from "../../src/net/ip.ts";
import { addressAddition, addressRemoval, addressRestoration, type AddressState } from "../netlink/address.ts";
import { linkChange } from "../netlink/link-change.ts";
import { neighbourAddition, neighbourRemoval, neighboursRequest, neighbourStateIn } from "../netlink/neighbour.ts";
import { restoration, routeIn } from "../netlink/route.ts";
import { routeAddition, routeRemoval, type RouteWish } from "../netlink/route-change.ts";
import type {
  LinksAddressChange,
  LinksAddressWish,
  LinksNeighbourChange,
  LinksRouteChange,
} from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Acting } from "./acting.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import type { Undo } from "./transaction.ts";

const ENOENT = 2;
const ESRCH = 3;
const EEXIST = 17;
const EADDRNOTAVAIL = 99;

export function addAddress(acting: Acting, { link: named, address, noDad }: LinksAddressChange): Result<void> {
  const link = acting.link(named);
  if (!link.ok) return link;
  giveAddress(acting, link.value, cidrOf(address), noDad);
  return ok(undefined);
}

function giveAddress(acting: Acting, link: KnownLink, cidr: Cidr, noDad: boolean, fine: readonly number[] = []): void {
  const { place, index, made } = link;
  const what = `${formatCidr(cidr)} on ${linkText(place, link.name)}`;
  const shared = place === "host" ? link.name : undefined;
  const undo: readonly Undo[] = made ? [] : [{ place, request: addressRemoval(index, cidr), what, shared }];
  const request = addressAddition(index, cidr, noDad);
  acting.transaction.send(place, { request, what: `adding ${what}`, fine, undo: () => undo });
  const key = `${place}/${link.name}`;
  const before = acting.addresses.get(key) ?? (made ? [] : undefined);
  const added = { link: index, cidr, tentative: false, dadFailed: false, raw: request.body };
  if (before !== undefined) acting.addresses.set(key, [...before, added]);
}

/** One that is there stays; those in its way go, or are a fault. */
export async function ensureAddress(acting: Acting, { link: named, address, replace }: LinksAddressWish): Promise<Result<void>> {
  const link = acting.link(named);
  if (!link.ok) return link;
  const wanted = cidrOf(address);
  const there = await acting.addressesOf(link.value);
  if (!there.ok) return there;
  const { transaction } = acting;
  for (const each of there.value.filter(({ cidr }) => cidr.address.family === wanted.address.family)) {
    if (formatCidr(each.cidr) === formatCidr(wanted)) return ok(undefined);
    if (!isInTheWay(each.cidr, wanted)) continue;
    if (!replace) {
      const has = `${linkText(named.place, named.name)} has ${formatCidr(each.cidr)}, which ${formatCidr(wanted)} can't be beside`;
      return failed(fault("NETLINK_FAILED", `links: ${acting.by}: ${has}`));
    }
    takeAddress(acting, link.value, each);
  }
  giveAddress(acting, link.value, wanted, false, [EEXIST]);
  const { state, index, made } = link.value;
  // A bridge whose MAC was never set takes the lowest one of its ports, whenever that changes.
  if (state?.kind === "bridge" && !made && state.mac !== "")
    transaction.send(named.place, {
      request: linkChange(index, { mac: state.mac }),
      what: `keeping the MAC address of ${named.name}`,
    });
  return ok(undefined);
}

function isInTheWay(there: Cidr, wanted: Cidr): boolean {
  return wanted.address.family === 4 || cidrContains(there, wanted.address) || cidrContains(wanted, there.address);
}

function takeAddress(acting: Acting, link: KnownLink, address: AddressState): void {
  const { place, index, made } = link;
  const what = `${formatCidr(address.cidr)} on ${linkText(place, link.name)}`;
  const undo: readonly Undo[] = made ? [] : [{ place, request: addressRestoration(address), what }];
  const request = addressRemoval(index, address.cidr);
  acting.transaction.send(place, { request, what: `removing ${what}`, fine: [EADDRNOTAVAIL], undo: () => undo });
  const key = `${place}/${link.name}`;
  acting.addresses.set(
    key,
    (acting.addresses.get(key) ?? []).filter((each) => each !== address),
  );
}

export async function deleteAddress(acting: Acting, { link: named, address }: LinksAddressChange): Promise<Result<void>> {
  const link = acting.link(named);
  if (!link.ok) return link;
  const there = await acting.addressesOf(link.value);
  if (!there.ok) return there;
  const wanted = formatCidr(cidrOf(address));
  const found = there.value.find(({ cidr }) => formatCidr(cidr) === wanted);
  if (found !== undefined) takeAddress(acting, link.value, found);
  return ok(undefined);
}

/** One that is there already stays. */
export function addRoute(acting: Acting, change: LinksRouteChange): Result<void> {
  const route = routeOf(acting, change);
  if (!route.ok) return route;
  const { wish, link, place, what } = route.value;
  const shared = place === "host" ? link?.name : undefined;
  const undo: readonly Undo[] = link?.made === true ? [] : [{ place, request: routeRemoval(wish), what, shared }];
  acting.transaction.send(place, { request: routeAddition(wish), what: `adding ${what}`, fine: [EEXIST], undo: () => undo });
  return ok(undefined);
}

/** One that isn't there is fine. The kernel tells what it removed, which is what is put back. */
export function deleteRoute(acting: Acting, change: LinksRouteChange): Result<void> {
  const route = routeOf(acting, change);
  if (!route.ok) return route;
  const { wish, link, place, what } = route.value;
  acting.transaction.send(place, {
    request: routeRemoval(wish),
    what: `removing ${what}`,
    fine: [ESRCH],
    undo: (answer) =>
      (link?.made === true ? [] : (answer?.messages ?? [])).flatMap(({ body }) => {
        const removed = routeIn({ type: RTM_NEWROUTE, body });
        return removed === undefined ? [] : [{ place, request: restoration(removed), what }];
      }),
  });
  return ok(undefined);
}

const RTM_NEWROUTE = 24;

function routeOf(
  acting: Acting,
  { link: named, place, route, onLink, source }: LinksRouteChange,
): Result<{
  readonly wish: RouteWish;
  readonly link: KnownLink | undefined;
  readonly place: "host" | "pod";
  readonly what: string;
}> {
  const link = named === undefined ? ok(undefined) : acting.link(named);
  if (!link.ok) return link;
  const { dst, gw, mtu, advmss, priority, table, scope } = route;
  const wish: RouteWish = {
    dst: cidrOf(dst),
    gateway: gw === undefined ? undefined : addressOf(gw),
    oif: link.value?.index,
    source: source === undefined ? undefined : addressOf(source),
    onLink,
    mtu,
    advmss,
    priority,
    table: table === 0 ? undefined : table,
    scope,
  };
  const where = named?.place ?? place;
  const over = named === undefined ? `in the ${place === "pod" ? "pod" : "node"}` : `over ${linkText(named.place, named.name)}`;
  const what = `the route ${formatCidr(wish.dst)}${gw === undefined ? "" : ` via ${gw}`} ${over}`;
  return ok({ wish, link: link.value, place: where, what });
}

export function addNeighbour(acting: Acting, { link: named, neighbour }: LinksNeighbourChange): Result<void> {
  const link = acting.link(named);
  if (!link.ok) return link;
  const wish = { ...neighbour, address: addressOf(neighbour.address), mac: neighbour.mac };
  const what = `the neighbour ${neighbour.address} of ${linkText(named.place, named.name)}`;
  const { place, index, made } = link.value;
  const undo: readonly Undo[] = made ? [] : [{ place, request: neighbourRemoval(index, wish), what }];
  acting.transaction.send(place, { request: neighbourAddition(index, wish), what: `adding ${what}`, undo: () => undo });
  return ok(undefined);
}

export async function deleteNeighbour(acting: Acting, { link: named, neighbour }: LinksNeighbourChange): Promise<Result<void>> {
  const link = acting.link(named);
  if (!link.ok) return link;
  const { place, index, made } = link.value;
  const what = `the neighbour ${neighbour.address} of ${linkText(place, named.name)}`;
  const address = addressOf(neighbour.address);
  const told = await acting.ask(place, neighboursRequest(index, neighbour.proxy), `listing the neighbours of ${named.name}`);
  if (!told.ok) return told;
  const there = told.value.messages
    .flatMap((message) => neighbourStateIn(message) ?? [])
    .find((each) => each.link === index && each.address.family === address.family && each.address.value === address.value);
  if (there === undefined) return ok(undefined);
  const before = { address, mac: there.mac === "" ? undefined : there.mac, proxy: neighbour.proxy };
  // What the kernel learned by itself it learns again.
  const restorable = !made && (there.permanent || there.proxy);
  acting.transaction.send(place, {
    request: neighbourRemoval(index, before),
    what: `removing ${what}`,
    fine: [ENOENT],
    undo: () => (restorable ? [{ place, request: neighbourAddition(index, before), what }] : []),
  });
  return ok(undefined);
}

/** Of text that was checked before (operation-mistake.ts). */
function cidrOf(text: string): Cidr {
  const cidr = readCidr(text);
  if (cidr === undefined) throw new Error(`${JSON.stringify(text)} was not checked`);
  return cidr;
}

function addressOf(text: string): IpAddress {
  const address = readAddress(text);
  if (address === undefined) throw new Error(`${JSON.stringify(text)} was not checked`);
  return address;
}
