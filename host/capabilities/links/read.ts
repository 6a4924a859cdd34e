// `read`, `routes`, `vrfs`, `default-link` and `neighbours`.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress } from "../../../src/net/ip.ts";
import { linkRequest, linksOfKindRequest } from "../../system/netlink/link-change.ts";
import { type LinkState, linkStatesIn } from "../../system/netlink/link-state.ts";
import { interruptedText, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import { neighboursRequest, neighbourStateIn } from "../../system/netlink/neighbour.ts";
import { nextHopsOf } from "../../system/netlink/next-hops.ts";
import { MAIN_TABLE, type Route as KernelRoute, routeIn, routesRequest } from "../../system/netlink/route.ts";
import type {
  LinksInstalledRoute,
  LinksLink,
  LinksLinkName,
  LinksNeighbour,
  LinksPlace,
  LinksVrf,
} from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkShim } from "./apply.ts";
import type { CallScope } from "./call-scope.ts";
import { checkedWithAliases, checkNames } from "./check-operations.ts";
import { linkAnswers } from "./link-answer.ts";
import { isUnicast, linkIndexesOf, routeAnswers } from "./route-answer.ts";
import { listedFor } from "../pod-lists.ts";
import { denied, isListed, linkText, misused } from "./link-scope.ts";
import { isGone, maxDumps, Namespaces, refusalText } from "./namespaces.ts";
import { readUsedLinks } from "./verify-links.ts";
import { type FindLink, type LinkDetails, type LinkReference, readDetails } from "./link-details.ts";
import { rememberedLinks, rememberLink } from "./remembered-links.ts";
import { EffectQueue } from "./effect-queue.ts";
import { EAFNOSUPPORT, EOPNOTSUPP } from "../../system/errno.ts";

const RTN_UNICAST = 1;
const TABLE_LOCAL = 255;

/** The existing links among `names`, in the same order. A namespace that does not exist has no links. */
export async function read(
  scope: CallScope,
  shim: LinkShim,
  names: readonly LinksLinkName[],
): Promise<Result<readonly LinksLink[]>> {
  const namespaces = namespacesOf(scope, shim);
  // The names alone, without a message: nothing is sent for a name that may not be read.
  const guesses = checkNames(scope, names).ok ? rememberedLinks(namespaces.podNetns, names) : undefined;
  const guessed = guesses?.map((state) => ({ place: "pod", index: state.index, state }) as const) ?? [];
  const [existing, early] = await Promise.all([
    find(scope, namespaces, names),
    guessed.length === 0 ? undefined : detailsOf(scope, namespaces, guessed),
  ]);
  if (!existing.ok) return existing;
  const isConfirmed = early?.ok === true && haveSameIndexes(existing.value, guessed) && haveSameIndexes(early.value, guessed);
  const details = isConfirmed ? early : await detailsOf(scope, namespaces, existing.value);
  if (!details.ok) return details;
  for (const { place, state } of details.value) {
    if (place !== "pod") continue;
    rememberLink(namespaces.podNetns, state);
    scope.readLinks.set(state.name, state);
  }
  return ok(linkAnswers(scope, details.value));
}

async function detailsOf(
  { aliases }: CallScope,
  namespaces: Namespaces,
  links: readonly FoundLink[],
): Promise<Result<readonly LinkDetails[]>> {
  const effects = new EffectQueue(namespaces);
  effects.begin("read");
  const known: FindLink = (place, index) => links.find((link) => link.place === place && link.index === index)?.state;
  const details = await readDetails(effects, links, known, aliases);
  return effects.failure === undefined ? ok(details) : failed(effects.failure);
}

function haveSameIndexes(links: readonly Pick<FoundLink, "state">[], others: readonly FoundLink[]): boolean {
  return links.length === others.length && links.every(({ state }, at) => state.index === others[at]?.state.index);
}

/** The unicast routes over a link, or all of the pod's, except those of the table `local`. */
export async function routes(
  scope: CallScope,
  shim: LinkShim,
  link: LinksLinkName | undefined,
): Promise<Result<readonly LinksInstalledRoute[]>> {
  const place = link?.place ?? "pod";
  if (link === undefined && scope.attachment === undefined) return failed(misused(`routes: a ${scope.verb} call has no pod`));
  const namespaces = namespacesOf(scope, shim);
  const finding = link === undefined ? ok(undefined) : findOne(scope, namespaces, link, "routes");
  // The grant decides about a link of the node, which may need the link's kind. Its routes are asked for afterwards.
  if (place === "host") {
    const allowed = await finding;
    if (!allowed.ok) return allowed;
  }
  // Together: each is a round trip to the shim.
  const dumps = ([4, 6] as const).map((family) => dump(namespaces, place, routesRequest(family), "listing the routes"));
  const [index, ...answers] = await Promise.all([finding, ...dumps]);
  if (!index.ok) return index;
  const found: KernelRoute[] = [];
  for (const answer of answers) {
    if (!answer.ok) return answer;
    found.push(...answer.value.messages.flatMap((message) => routeIn(message) ?? []));
  }
  const all = found.filter((route) => isUnicast(route) && route.table !== TABLE_LOCAL);
  if (link !== undefined) {
    const over = all.flatMap((route) => routeAnswers(route, (oif) => (oif === index.value ? link.name : undefined), "left-out"));
    return ok(listedFor(scope, place, over));
  }
  const listed = listedFor(scope, place, all);
  const names = await linkNames(namespaces, linkIndexesOf(listed));
  return ok(listed.flatMap((route) => routeAnswers(route, (oif) => names.get(oif), "unnamed")));
}

/** The VRFs of the pod with their tables, also those without a route. */
export async function vrfs(scope: CallScope, shim: LinkShim): Promise<Result<readonly LinksVrf[]>> {
  if (scope.attachment === undefined) return failed(misused(`vrfs: a ${scope.verb} call has no pod`));
  const answer = await dump(namespacesOf(scope, shim), "pod", linksOfKindRequest("vrf"), "listing the VRFs");
  if (!answer.ok) return answer;
  const states = linkStatesIn(answer.value);
  const found = states.flatMap(({ name, vrfTable }) => (vrfTable === undefined ? [] : [{ name, table: vrfTable }]));
  return ok(listedFor(scope, "pod", found));
}

/** The names of the pod's links by index; a link that is gone has none. */
async function linkNames(namespaces: Namespaces, indexes: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (indexes.length === 0) return new Map();
  const { answers } = await namespaces.exchange("pod", indexes.map(linkRequest));
  const states = answers.flatMap((answer) => linkStatesIn(answer));
  return new Map(states.map(({ index, name }) => [index, name]));
}

/** The name of the default route's link, IPv4 before IPv6. Fault: NOT_GRANTED for a link of the node that is not a granted parent. */
export async function defaultLink(scope: CallScope, shim: LinkShim, place: LinksPlace): Promise<Result<string | undefined>> {
  if (place === "pod" && scope.attachment === undefined) return failed(misused(`default-link: a ${scope.verb} call has no pod`));
  const namespaces = namespacesOf(scope, shim);
  for (const family of [4, 6] as const) {
    const answer = await dump(namespaces, place, routesRequest(family), "listing the routes");
    if (!answer.ok) return answer;
    const [best] = answer.value.messages
      .flatMap((message) => routeIn(message) ?? [])
      .filter(({ dst, table, type }) => dst.endsWith("/0") && table === MAIN_TABLE && type === RTN_UNICAST)
      .toSorted((a, b) => a.metric - b.metric);
    const index = best && (best.oif ?? nextHopsOf(best)[0]?.oif);
    if (index === undefined) continue;
    const linkRead = (await namespaces.exchange(place, [linkRequest(index)])).answers[0];
    const [state] = linkStatesIn(linkRead);
    if (state === undefined) continue;
    if (place === "pod" || isListed(scope.grant.parents, state.name)) return ok(state.name);
    return failed(denied(scope, "parents", `default-link: ${linkText("host", state.name)}`));
  }
  return ok(undefined);
}

/** The link's permanent neighbours, and the addresses that it answers for (proxy ARP, proxy NDP). */
export async function neighbours(
  scope: CallScope,
  shim: LinkShim,
  link: LinksLinkName,
): Promise<Result<readonly LinksNeighbour[]>> {
  const namespaces = namespacesOf(scope, shim);
  const index = await findOne(scope, namespaces, link, "neighbours");
  if (!index.ok) return index;
  const all: LinksNeighbour[] = [];
  const kinds = [false, true];
  const dumps = kinds.map((proxy) =>
    dump(namespaces, link.place, neighboursRequest(index.value, proxy), "listing the neighbours"),
  );
  for (const [at, answer] of (await Promise.all(dumps)).entries()) {
    const proxy = kinds[at];
    if (!answer.ok) return answer;
    const found = answer.value.messages.flatMap((message) => neighbourStateIn(message) ?? []);
    for (const each of found) {
      if (each.link !== index.value || !(each.permanent || each.proxy) || each.proxy !== proxy) continue;
      all.push({ address: formatAddress(each.address), mac: each.mac === "" ? undefined : each.mac, proxy });
    }
  }
  return ok(listedFor(scope, link.place, all));
}

function namespacesOf(scope: CallScope, shim: LinkShim): Namespaces {
  return new Namespaces(shim, scope.attachment?.netns ?? "");
}

/** A link with the state in which it was found. */
interface FoundLink extends LinkReference {
  readonly state: LinkState;
}

/** The existing links among `names`. Fault: NOT_GRANTED for one that may not be read. */
async function find(
  scope: CallScope,
  namespaces: Namespaces,
  names: readonly LinksLinkName[],
): Promise<Result<readonly FoundLink[]>> {
  const hostNames = names.flatMap(({ place, name }) => (place === "host" ? [name] : []));
  const used = await checkedWithAliases(scope, namespaces, hostNames, () => checkNames(scope, names));
  if (!used.ok) return used;
  const links = await readUsedLinks(namespaces, scope, used.value);
  if (!links.ok) return links;
  return ok(
    names.flatMap(({ place, name }) => {
      const state = links.value[place].get(name);
      return state === undefined ? [] : [{ place, index: state.index, state }];
    }),
  );
}

/** The index of a link. `request` names the request for faults. */
async function findOne(scope: CallScope, namespaces: Namespaces, link: LinksLinkName, request: string): Promise<Result<number>> {
  const links = await find(scope, namespaces, [link]);
  if (!links.ok) return links;
  const [found] = links.value;
  if (found !== undefined) {
    if (link.place === "pod") scope.readLinks.set(link.name, found.state);
    return ok(found.index);
  }
  return failed(fault("NETLINK_FAILED", `links: ${request}: ${linkText(link.place, link.name)} does not exist`));
}

/** The answer to a dump. A kernel without the address family, and a pod namespace that does not exist, give an empty one. */
async function dump(
  namespaces: Namespaces,
  place: LinksPlace,
  request: NetlinkRequest,
  action: string,
): Promise<Result<NetlinkAnswer>> {
  for (let tries = 1; ; tries++) {
    const exchange = await namespaces.exchange(place, [request]);
    const [answer] = exchange.answers;
    if (answer === undefined && place === "pod" && isGone(exchange)) return ok(emptyDump);
    if (answer === undefined) return failed(namespaces.unreachable(exchange.errno));
    if (answer.errno === EAFNOSUPPORT || answer.errno === EOPNOTSUPP) return ok(emptyDump);
    if (answer.errno !== 0) return failed(fault("NETLINK_FAILED", `links: ${action}: ${refusalText(answer)}`));
    if (!answer.interrupted) return ok(answer);
    if (tries === maxDumps) return failed(fault("NETLINK_FAILED", `links: ${action}: ${interruptedText(maxDumps)}`));
  }
}

const emptyDump: NetlinkAnswer = { messages: [], errno: 0, errorText: "", offset: undefined, interrupted: false };
