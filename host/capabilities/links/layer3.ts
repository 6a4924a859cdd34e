// Addresses, routes and neighbours of a link.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { type Cidr, formatCidr, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import { addressAddition, addressRemoval, addressRestoration, type AddressState } from "../../system/netlink/address.ts";
import { linkChange } from "../../system/netlink/link-change.ts";
import { neighbourAddition, neighbourRemoval, neighboursRequest, neighbourStateIn } from "../../system/netlink/neighbour.ts";
import { routeRestoration, routeIn } from "../../system/netlink/route.ts";
import { routeAddition, routeRemoval, type RouteSpec } from "../../system/netlink/route-change.ts";
import type {
  LinksAddressChange,
  LinksAddressWish,
  LinksLinkName,
  LinksNeighbourChange,
  LinksRouteChange,
} from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { excludes } from "./address-conflicts.ts";
import type { LinkTransaction } from "./link-transaction.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import type { Undo } from "./effect-queue.ts";
import { EADDRNOTAVAIL, EEXIST, ENOENT, ESRCH } from "../../system/errno.ts";

/** Adds an address. Fault: NETLINK_FAILED, also where the link has it. */
export function addAddress(transaction: LinkTransaction, { link: linkName, address, noDad }: LinksAddressChange): Result<void> {
  const link = transaction.link(linkName);
  if (!link.ok) return link;
  queueAddition(transaction, link.value, cidrOf(address), noDad);
  return ok(undefined);
}

function queueAddition(
  transaction: LinkTransaction,
  link: KnownLink,
  cidr: Cidr,
  noDad: boolean,
  ignoredErrnos: readonly number[] = [],
): void {
  const { place, index, isNew } = link;
  const action = `adding ${formatCidr(cidr)} to ${linkText(place, link.name)}`;
  const shared = place === "host" ? link.name : undefined;
  const undo: readonly Undo[] = isNew ? [] : [{ place, request: addressRemoval(index, cidr), action, shared }];
  const request = addressAddition(index, cidr, noDad);
  transaction.effects.send(place, { request, action, ignoredErrnos, undo: () => undo });
  const key = `${place}/${link.name}`;
  const before = transaction.addresses.get(key) ?? (isNew ? [] : undefined);
  const added = { link: index, cidr, tentative: false, dadFailed: false, raw: request.body };
  if (before !== undefined) transaction.addresses.set(key, [...before, added]);
}

/** Adds an address unless the link has it. Addresses that conflict with it are removed where `replace`; otherwise they are a fault. */
export async function ensureAddress(
  transaction: LinkTransaction,
  { link: linkName, address, replace }: LinksAddressWish,
): Promise<Result<void>> {
  const link = transaction.link(linkName);
  if (!link.ok) return link;
  const wanted = cidrOf(address);
  const current = await transaction.addressesOf(link.value);
  if (!current.ok) return current;
  if (current.value.some(({ cidr }) => formatCidr(cidr) === formatCidr(wanted))) return ok(undefined);
  for (const each of current.value.filter(({ cidr }) => excludes(cidr, wanted))) {
    if (!replace) return failed(addressConflict(transaction, linkName, each.cidr, wanted));
    queueRemoval(transaction, link.value, each);
  }
  queueAddition(transaction, link.value, wanted, false, [EEXIST]);
  const { state, index, isNew } = link.value;
  // A bridge whose MAC was never set takes the lowest MAC of its ports, and changes with them.
  if (state?.kind === "bridge" && !isNew && state.mac !== "")
    transaction.effects.send(linkName.place, {
      request: linkChange(index, { mac: state.mac }),
      action: `keeping the MAC address of ${linkName.name}`,
    });
  return ok(undefined);
}

function addressConflict({ label }: LinkTransaction, { place, name }: LinksLinkName, current: Cidr, wanted: Cidr): Fault {
  const link = linkText(place, name);
  const conflict = `${link} already has address ${formatCidr(current)}; ${formatCidr(wanted)} cannot be added`;
  const remedy = `Use one subnet and one gateway address for all networks on ${quote(name, 40)}, or set forceAddress.`;
  return fault("NETLINK_FAILED", `links: ${label}: ${conflict}. ${remedy}`);
}

function queueRemoval(transaction: LinkTransaction, link: KnownLink, address: AddressState): void {
  const { place, index, isNew } = link;
  const action = `removing ${formatCidr(address.cidr)} from ${linkText(place, link.name)}`;
  const undo: readonly Undo[] = isNew ? [] : [{ place, request: addressRestoration(address.raw), action }];
  const request = addressRemoval(index, address.cidr);
  transaction.effects.send(place, { request, action, ignoredErrnos: [EADDRNOTAVAIL], undo: () => undo });
  const key = `${place}/${link.name}`;
  transaction.addresses.set(
    key,
    (transaction.addresses.get(key) ?? []).filter((each) => each !== address),
  );
}

/** Removes an address; the link need not have it. Fault: NETLINK_FAILED. */
export async function deleteAddress(
  transaction: LinkTransaction,
  { link: linkName, address }: LinksAddressChange,
): Promise<Result<void>> {
  const link = transaction.link(linkName);
  if (!link.ok) return link;
  const current = await transaction.addressesOf(link.value);
  if (!current.ok) return current;
  const wanted = formatCidr(cidrOf(address));
  const found = current.value.find(({ cidr }) => formatCidr(cidr) === wanted);
  if (found !== undefined) queueRemoval(transaction, link.value, found);
  return ok(undefined);
}

/**
 * Adds a route; an existing one stays unchanged. In the pod, a further route to the destination may be over another next hop or link. On the node the first
 * holder keeps its route: no pod takes another one's traffic.
 */
export function addRoute(transaction: LinkTransaction, change: LinksRouteChange): Result<void> {
  const route = routeOf(transaction, change);
  if (!route.ok) return route;
  const { spec, link, place, text } = route.value;
  const action = `adding ${text}`;
  const shared = place === "host" ? link?.name : undefined;
  const undo: readonly Undo[] = link?.isNew === true ? [] : [{ place, request: routeRemoval(spec), action, shared }];
  const request = routeAddition(spec, place === "pod" ? "beside" : "excludes");
  transaction.effects.send(place, { request, action, ignoredErrnos: [EEXIST], undo: () => undo });
  return ok(undefined);
}

/** Removes a route; a route that does not exist is no fault. The undo restores the route that the kernel's answer shows. */
export function deleteRoute(transaction: LinkTransaction, change: LinksRouteChange): Result<void> {
  const route = routeOf(transaction, change);
  if (!route.ok) return route;
  const { spec, link, place, text } = route.value;
  const action = `removing ${text}`;
  transaction.effects.send(place, {
    request: routeRemoval(spec),
    action,
    ignoredErrnos: [ESRCH],
    undo: (answer) =>
      (link?.isNew === true ? [] : (answer?.messages ?? [])).flatMap(({ body }) => {
        const removed = routeIn({ type: RTM_NEWROUTE, body });
        return removed === undefined ? [] : [{ place, request: routeRestoration(removed), action }];
      }),
  });
  return ok(undefined);
}

const RTM_NEWROUTE = 24;

function routeOf(
  transaction: LinkTransaction,
  { link: linkName, place, route, onLink, source }: LinksRouteChange,
): Result<{
  readonly spec: RouteSpec;
  readonly link: KnownLink | undefined;
  readonly place: "host" | "pod";
  /** The route for messages. */
  readonly text: string;
}> {
  const link = linkName === undefined ? ok(undefined) : transaction.link(linkName);
  if (!link.ok) return link;
  const { dst, gw, mtu, advmss, priority, table, scope } = route;
  const spec: RouteSpec = {
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
  const routePlace = linkName?.place ?? place;
  const over =
    linkName === undefined ? `in the ${place === "pod" ? "pod" : "node"}` : `over ${linkText(linkName.place, linkName.name)}`;
  const text = `the route ${formatCidr(spec.dst)}${gw === undefined ? "" : ` via ${gw}`} ${over}`;
  return ok({ spec, link: link.value, place: routePlace, text });
}

/** Adds a permanent neighbour or a proxy entry. Fault: NETLINK_FAILED, also for an existing neighbour. */
export function addNeighbour(transaction: LinkTransaction, { link: linkName, neighbour }: LinksNeighbourChange): Result<void> {
  const link = transaction.link(linkName);
  if (!link.ok) return link;
  const spec = { ...neighbour, address: addressOf(neighbour.address), mac: neighbour.mac };
  const action = `adding the neighbour ${neighbour.address} of ${linkText(linkName.place, linkName.name)}`;
  const { place, index, isNew } = link.value;
  const undo: readonly Undo[] = isNew ? [] : [{ place, request: neighbourRemoval(index, spec), action }];
  transaction.effects.send(place, { request: neighbourAddition(index, spec), action, undo: () => undo });
  return ok(undefined);
}

/** Removes a neighbour or a proxy entry; the link need not have it. Fault: NETLINK_FAILED. */
export async function deleteNeighbour(
  transaction: LinkTransaction,
  { link: linkName, neighbour }: LinksNeighbourChange,
): Promise<Result<void>> {
  const link = transaction.link(linkName);
  if (!link.ok) return link;
  const { place, index, isNew } = link.value;
  const action = `removing the neighbour ${neighbour.address} of ${linkText(place, linkName.name)}`;
  const address = addressOf(neighbour.address);
  const dump = await transaction.ask(
    place,
    neighboursRequest(index, neighbour.proxy),
    `listing the neighbours of ${linkName.name}`,
  );
  if (!dump.ok) return dump;
  const entry = dump.value.messages
    .flatMap((message) => neighbourStateIn(message) ?? [])
    .find((each) => each.link === index && each.address.family === address.family && each.address.value === address.value);
  if (entry === undefined) return ok(undefined);
  const before = { address, mac: entry.mac === "" ? undefined : entry.mac, proxy: neighbour.proxy };
  // The kernel learns a dynamic entry again by itself.
  const isRestorable = !isNew && (entry.permanent || entry.proxy);
  transaction.effects.send(place, {
    request: neighbourRemoval(index, before),
    action,
    ignoredErrnos: [ENOENT],
    undo: () => (isRestorable ? [{ place, request: neighbourAddition(index, before), action }] : []),
  });
  return ok(undefined);
}

/** The address in a text that operation-mistake.ts has checked. */
function cidrOf(text: string): Cidr {
  const cidr = readCidr(text);
  if (cidr === undefined) throw new Error(`${JSON.stringify(text)} was not checked`);
  return cidr;
}

/** As `cidrOf`, without a prefix length. */
function addressOf(text: string): IpAddress {
  const address = readAddress(text);
  if (address === undefined) throw new Error(`${JSON.stringify(text)} was not checked`);
  return address;
}
