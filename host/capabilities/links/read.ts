// `read`, `routes`, `default-link` and `neighbours`.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { formatAddress } from "../../src/net/ip.ts";
import { linkRequest } from "../netlink/link-change.ts";
import { linkStateIn } from "../netlink/link-state.ts";
import { Attributes } from "../netlink/attributes.ts";
import type { NetlinkAnswer, NetlinkRequest } from "../netlink/message.ts";
import { neighboursRequest, neighbourStateIn } from "../netlink/neighbour.ts";
import { nextHopsOf } from "../netlink/next-hops.ts";
import { MAIN_TABLE, type Route as KernelRoute, routeIn, routesRequest } from "../netlink/route.ts";
import type { LinksLink, LinksLinkName, LinksNeighbour, LinksPlace, Route } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { LinkHands } from "./apply.ts";
import { checkNames } from "./check-operations.ts";
import { linkAnswer } from "./link-answer.ts";
import { denied, isListed, linkText, type LinkScope, misused } from "./link-scope.ts";
import { isGone, Namespaces, refusalText } from "./namespaces.ts";
import { readLinks } from "./own-links.ts";
import { seeLinks, type SeenPlace } from "./see-links.ts";
import { Transaction } from "./transaction.ts";

const dumps = 5;
const RTM_HEADER = 12;
const RTA_METRICS = 8;
const RTAX_MTU = 2;
const RTAX_ADVMSS = 8;
const RTN_UNICAST = 1;
const TABLE_LOCAL = 255;
const EAFNOSUPPORT = 97;
const EOPNOTSUPP = 95;

/** The links that are there, in the order in which they are named. In a namespace that is gone there are none. */
export async function read(
  scope: LinkScope,
  hands: LinkHands,
  names: readonly LinksLinkName[],
): Promise<Result<readonly LinksLink[]>> {
  const namespaces = namespacesOf(scope, hands);
  const there = await find(scope, namespaces, names);
  if (!there.ok) return there;
  const transaction = new Transaction(namespaces);
  transaction.begin("read");
  const seen = await seeLinks(transaction, there.value, () => undefined);
  return transaction.failure === undefined ? ok(seen.map(linkAnswer)) : failed(transaction.failure);
}

/** The routes over a link, or all of the pod's, but for those of the table `local`. */
export async function routes(
  scope: LinkScope,
  hands: LinkHands,
  link: LinksLinkName | undefined,
): Promise<Result<readonly Route[]>> {
  const place = link?.place ?? "pod";
  if (link === undefined && scope.attachment === undefined) return failed(misused(`routes: ${scope.verb} has no pod`));
  const namespaces = namespacesOf(scope, hands);
  const there = link === undefined ? ok(undefined) : await findOne(scope, namespaces, link, "routes");
  if (!there.ok) return there;
  const told: Route[] = [];
  for (const family of [4, 6] as const) {
    const answer = await dump(namespaces, place, routesRequest(family), "listing the routes");
    if (!answer.ok) return answer;
    for (const route of answer.value.messages.flatMap((message) => routeIn(message) ?? []))
      told.push(...routesOver(route, there.value));
  }
  return ok(told);
}

/** A route as delegates get it, once for each of its next hops that lead over the link. */
function routesOver(route: KernelRoute, link: number | undefined): readonly Route[] {
  if (route.type !== RTN_UNICAST || route.table === TABLE_LOCAL) return [];
  const hops = route.multipath ? nextHopsOf(route) : [{ gateway: route.gateway ?? route.via, oif: route.oif }];
  const metrics = new Attributes(route.raw, RTM_HEADER).within(RTA_METRICS);
  return hops
    .filter(({ oif }) => link === undefined || oif === link)
    .map(({ gateway }) => ({
      dst: route.dst,
      gw: gateway,
      mtu: metrics.u32(RTAX_MTU),
      advmss: metrics.u32(RTAX_ADVMSS),
      priority: route.metric === 0 ? undefined : route.metric,
      table: route.table === MAIN_TABLE ? undefined : route.table,
      scope: route.scope,
    }));
}

/** Name of the link that the default route leads over; a link of the node must be a granted parent. */
export async function defaultLink(scope: LinkScope, hands: LinkHands, place: LinksPlace): Promise<Result<string | undefined>> {
  if (place === "pod" && scope.attachment === undefined) return failed(misused(`default-link: ${scope.verb} has no pod`));
  const namespaces = namespacesOf(scope, hands);
  for (const family of [4, 6] as const) {
    const answer = await dump(namespaces, place, routesRequest(family), "listing the routes");
    if (!answer.ok) return answer;
    const [best] = answer.value.messages
      .flatMap((message) => routeIn(message) ?? [])
      .filter(({ dst, table, type }) => dst.endsWith("/0") && table === MAIN_TABLE && type === RTN_UNICAST)
      .toSorted((a, b) => a.metric - b.metric);
    const index = best && (best.oif ?? nextHopsOf(best)[0]?.oif);
    if (index === undefined) continue;
    const told = (await namespaces.exchange(place, [linkRequest(index)])).answers[0];
    const [state] = told?.messages.flatMap((message) => linkStateIn(message) ?? []) ?? [];
    if (state === undefined) continue;
    if (place === "pod" || isListed(scope.grant.parents, state.name)) return ok(state.name);
    return failed(denied(scope, "parents", `default-link: ${linkText("host", state.name)}`));
  }
  return ok(undefined);
}

/** Its permanent neighbours, and the addresses that it answers for. */
export async function neighbours(
  scope: LinkScope,
  hands: LinkHands,
  link: LinksLinkName,
): Promise<Result<readonly LinksNeighbour[]>> {
  const namespaces = namespacesOf(scope, hands);
  const index = await findOne(scope, namespaces, link, "neighbours");
  if (!index.ok) return index;
  const told: LinksNeighbour[] = [];
  for (const proxy of [false, true]) {
    const answer = await dump(namespaces, link.place, neighboursRequest(index.value, proxy), "listing the neighbours");
    if (!answer.ok) return answer;
    const found = answer.value.messages.flatMap((message) => neighbourStateIn(message) ?? []);
    for (const each of found) {
      if (each.link !== index.value || !(each.permanent || each.proxy) || each.proxy !== proxy) continue;
      told.push({ address: formatAddress(each.address), mac: each.mac === "" ? undefined : each.mac, proxy });
    }
  }
  return ok(told);
}

function namespacesOf(scope: LinkScope, hands: LinkHands): Namespaces {
  return new Namespaces(hands, scope.attachment?.netns ?? "");
}

/** Those that are there, if all may be read. */
async function find(
  scope: LinkScope,
  namespaces: Namespaces,
  names: readonly LinksLinkName[],
): Promise<Result<readonly SeenPlace[]>> {
  const used = checkNames(scope, names);
  if (!used.ok) return used;
  const there = await readLinks(namespaces, scope, used.value);
  if (!there.ok) return there;
  return ok(
    names.flatMap(({ place, name }) => {
      const state = there.value[place].get(name);
      return state === undefined ? [] : [{ place, index: state.index }];
    }),
  );
}

async function findOne(scope: LinkScope, namespaces: Namespaces, link: LinksLinkName, what: string): Promise<Result<number>> {
  const there = await find(scope, namespaces, [link]);
  if (!there.ok) return there;
  const [found] = there.value;
  if (found !== undefined) return ok(found.index);
  return failed(fault("NETLINK_FAILED", `links: ${what}: there is no ${linkText(link.place, link.name)}`));
}

/** A dump that others disturb is asked for again. A kernel without this family has nothing to tell. */
async function dump(
  namespaces: Namespaces,
  place: LinksPlace,
  request: NetlinkRequest,
  what: string,
): Promise<Result<NetlinkAnswer>> {
  for (let tries = 1; ; tries++) {
    const exchange = await namespaces.exchange(place, [request]);
    const [answer] = exchange.answers;
    if (answer === undefined && place === "pod" && isGone(exchange)) return ok(nothing);
    if (answer === undefined) return failed(namespaces.unreachable(exchange.errno));
    if (answer.errno === EAFNOSUPPORT || answer.errno === EOPNOTSUPP) return ok(nothing);
    if (answer.errno !== 0) return failed(fault("NETLINK_FAILED", `links: ${what}: ${refusalText(answer)}`));
    if (!answer.interrupted || tries === dumps) return ok(answer);
  }
}

const nothing: NetlinkAnswer = { messages: [], errno: 0, words: "", offset: undefined, interrupted: false };
