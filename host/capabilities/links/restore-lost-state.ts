// Restores what the kernel removes with a change of a link: addresses and routes where the link goes down or its MTU gets too small for IPv6,
// and permanent neighbours. They are read before the change.

import { ok, type Result } from "../../../src/fault/result.ts";
import { formatCidr } from "../../../src/net/ip.ts";
import { addressesOf, addressesRequest, addressRemoval, addressRestoration } from "../../system/netlink/address.ts";
import type { LinkChange } from "../../system/netlink/link-change.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import { neighbourAddition, neighboursRequest, neighbourStateIn } from "../../system/netlink/neighbour.ts";
import { routeRestoration, routeIn, routesRequest } from "../../system/netlink/route.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { Undo } from "./effect-queue.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import type { LinkTransaction } from "./link-transaction.ts";
import { type Namespaces, refusalText } from "./namespaces.ts";

/** The smallest MTU of IPv6: below it the kernel removes IPv6 from the link. */
const minInet6Mtu = 1280;
/** Protocol of routes that the kernel makes, and makes again. */
const RTPROT_KERNEL = 2;
const TABLE_LOCAL = 255;

/**
 * The undos of what `change` removes from the link: addresses, then routes, then neighbours. Fault: the current state could not be read. In
 * a DEL that is no fault: a pod could otherwise keep its links by filling its namespace with more routes than the shim reads.
 */
export async function undosOfLostState(
  transaction: LinkTransaction,
  link: KnownLink,
  { up, mtu }: LinkState,
  change: LinkChange,
): Promise<Result<readonly Undo[]>> {
  const losesInet6 = change.mtu !== undefined && change.mtu < minInet6Mtu && mtu >= minInet6Mtu;
  // Also where the link comes up: its undo sets it down again.
  const changesUp = change.up !== undefined && change.up !== up;
  const losesLayer3 = changesUp || losesInet6;
  // Together: each dump is a round trip to the shim.
  const [layer3, neighbours] = await Promise.all([
    losesLayer3 ? layer3Of(transaction, link) : ok([]),
    losesLayer3 || change.mac !== undefined ? neighboursOf(transaction, link) : ok([]),
  ]);
  if (!layer3.ok) return unreadable(transaction, layer3);
  return neighbours.ok ? ok([...layer3.value, ...neighbours.value]) : unreadable(transaction, neighbours);
}

function unreadable({ scope, effects }: LinkTransaction, failure: Result<never>): Result<readonly Undo[]> {
  return scope.verb === "DEL" && effects.failure === undefined ? ok([]) : failure;
}

async function layer3Of(transaction: LinkTransaction, { place, index, name }: KnownLink): Promise<Result<readonly Undo[]>> {
  const action = `losing the addresses and routes of ${linkText(place, name)}`;
  const reading = `reading ${linkText(place, name)}`;
  const undos: Undo[] = [];
  const [dump, ...routeDumps] = await Promise.all([
    transaction.ask(place, addressesRequest(index), reading),
    ...([4, 6] as const).map((family) => transaction.ask(place, routesRequest(family), reading)),
  ]);
  if (!dump.ok) return dump;
  const addresses = addressesOf(dump.value, index);
  for (const each of addresses) undos.push({ place, request: addressRestoration(each.raw), action });
  for (const routes of routeDumps) {
    if (!routes.ok) return routes;
    for (const route of routes.value.messages.flatMap((message) => routeIn(message) ?? [])) {
      if (route.oif !== index || route.protocol === RTPROT_KERNEL || route.table === TABLE_LOCAL) continue;
      undos.push({ place, request: routeRestoration(route), action });
    }
  }
  // Last: a carrier that comes between two undos makes the kernel add a link-local address of the MAC that a later undo changes back.
  const first = transaction.firstAddresses(place, name, addresses);
  undos.push({ action, last: true, run: () => removeOtherAddresses(transaction.namespaces, { place, index }, first) });
  return ok(undos);
}

/** Removes addresses that are not `wanted`: the kernel gives a link that comes up a link-local address of its current MAC. */
async function removeOtherAddresses(
  namespaces: Namespaces,
  { place, index }: { readonly place: LinksPlace; readonly index: number },
  wanted: ReadonlySet<string>,
): Promise<string | undefined> {
  const [dump] = (await namespaces.exchange(place, [addressesRequest(index)])).answers;
  if (dump === undefined || dump.errno !== 0) return "the addresses could not be read";
  const others = addressesOf(dump, index).filter(({ cidr }) => !wanted.has(formatCidr(cidr)));
  if (others.length === 0) return undefined;
  const { answers } = await namespaces.exchange(
    place,
    others.map(({ cidr }) => addressRemoval(index, cidr)),
  );
  const refused = answers.find((answer) => answer === undefined || answer.errno !== 0);
  return refused === undefined ? undefined : refusalText(refused);
}

async function neighboursOf(transaction: LinkTransaction, { place, index, name }: KnownLink): Promise<Result<readonly Undo[]>> {
  const action = `losing the neighbours of ${linkText(place, name)}`;
  const undos: Undo[] = [];
  const kinds = [false, true];
  const reading = `reading ${linkText(place, name)}`;
  const dumps = kinds.map((proxy) => transaction.ask(place, neighboursRequest(index, proxy), reading));
  for (const [at, dump] of (await Promise.all(dumps)).entries()) {
    const proxy = kinds[at];
    if (!dump.ok) return dump;
    for (const each of dump.value.messages.flatMap((message) => neighbourStateIn(message) ?? [])) {
      const { link, permanent, address, mac } = each;
      if (proxy === undefined || link !== index || each.proxy !== proxy || !(permanent || proxy)) continue;
      undos.push({ place, request: neighbourAddition(index, { address, mac: mac === "" ? undefined : mac, proxy }), action });
    }
  }
  return ok(undos);
}
