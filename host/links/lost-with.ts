// What the kernel takes away with a change of a link, and nobody but us brings back: to be known before, for an undo.

import { ok, type Result } from "../../src/fault/result.ts";
import { formatCidr } from "../../src/net/ip.ts";
import { addressesOf, addressesRequest, addressRemoval, addressRestoration } from "../netlink/address.ts";
import type { LinkChange } from "../netlink/link-change.ts";
import type { LinkState } from "../netlink/link-state.ts";
import { neighbourAddition, neighboursRequest, neighbourStateIn } from "../netlink/neighbour.ts";
import { restoration, routeIn, routesRequest } from "../netlink/route.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Acting } from "./acting.ts";
import type { KnownLink } from "./known-links.ts";
import { linkText } from "./link-scope.ts";
import { type Namespaces, refusalText } from "./namespaces.ts";
import type { Undo } from "./transaction.ts";

/** Below this MTU a link has no IPv6. */
const inet6Mtu = 1280;
/** Made by the kernel, which makes it again. */
const RTPROT_KERNEL = 2;
const TABLE_LOCAL = 255;

/** Addresses, then routes, of a link that is set up or down or gets too small for IPv6; its neighbours then and where its MAC changes. */
export async function lostWith(
  acting: Acting,
  link: KnownLink,
  { up, mtu }: LinkState,
  wanted: LinkChange,
): Promise<Result<readonly Undo[]>> {
  const shrinks = wanted.mtu !== undefined && wanted.mtu < inet6Mtu && mtu >= inet6Mtu;
  // One that rises falls again when that is undone.
  const falls = wanted.up !== undefined && wanted.up !== up;
  const layer3 = falls || shrinks ? await layer3Of(acting, link) : ok([]);
  if (!layer3.ok) return unreadable(acting, layer3);
  const neighbours = falls || shrinks || wanted.mac !== undefined ? await neighboursOf(acting, link) : ok([]);
  return neighbours.ok ? ok([...layer3.value, ...neighbours.value]) : unreadable(acting, neighbours);
}

/** A pod could fill its namespace with more than is read, to stay: a DEL goes on without. */
function unreadable({ scope, transaction }: Acting, why: Result<never>): Result<readonly Undo[]> {
  return scope.verb === "DEL" && transaction.failure === undefined ? ok([]) : why;
}

async function layer3Of(acting: Acting, { place, index, name }: KnownLink): Promise<Result<readonly Undo[]>> {
  const what = `restoring the addresses and routes of ${linkText(place, name)}`;
  const asked = `reading ${linkText(place, name)}`;
  const undos: Undo[] = [];
  const told = await acting.ask(place, addressesRequest(index), asked);
  if (!told.ok) return told;
  const addresses = addressesOf(told.value, index);
  for (const each of addresses) undos.push({ place, request: addressRestoration(each), what });
  for (const family of [4, 6] as const) {
    const routes = await acting.ask(place, routesRequest(family), asked);
    if (!routes.ok) return routes;
    for (const route of routes.value.messages.flatMap((message) => routeIn(message) ?? [])) {
      if (route.oif !== index || route.protocol === RTPROT_KERNEL || route.table === TABLE_LOCAL) continue;
      undos.push({ place, request: restoration(route), what });
    }
  }
  const texts = new Set(addresses.map(({ cidr }) => formatCidr(cidr)));
  undos.push({ what, run: () => removeOthers(acting.namespaces, { place, index }, texts) });
  return ok(undos);
}

/** The kernel gives a link that comes up an address of the MAC that it has by then. */
async function removeOthers(
  namespaces: Namespaces,
  { place, index }: { readonly place: LinksPlace; readonly index: number },
  wanted: ReadonlySet<string>,
): Promise<string | undefined> {
  const [told] = (await namespaces.exchange(place, [addressesRequest(index)])).answers;
  if (told === undefined || told.errno !== 0) return "the addresses could not be read";
  const others = addressesOf(told, index).filter(({ cidr }) => !wanted.has(formatCidr(cidr)));
  if (others.length === 0) return undefined;
  const { answers } = await namespaces.exchange(
    place,
    others.map(({ cidr }) => addressRemoval(index, cidr)),
  );
  const refused = answers.find((answer) => answer === undefined || answer.errno !== 0);
  return refused === undefined ? undefined : refusalText(refused);
}

async function neighboursOf(acting: Acting, { place, index, name }: KnownLink): Promise<Result<readonly Undo[]>> {
  const what = `restoring the neighbours of ${linkText(place, name)}`;
  const undos: Undo[] = [];
  for (const proxy of [false, true]) {
    const told = await acting.ask(place, neighboursRequest(index, proxy), `reading ${linkText(place, name)}`);
    if (!told.ok) return told;
    for (const each of told.value.messages.flatMap((message) => neighbourStateIn(message) ?? [])) {
      const { link, permanent, address, mac } = each;
      if (link !== index || each.proxy !== proxy || !(permanent || proxy)) continue;
      undos.push({ place, request: neighbourAddition(index, { address, mac: mac === "" ? undefined : mac, proxy }), what });
    }
  }
  return ok(undos);
}
