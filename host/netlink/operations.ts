// What Plexus itself does to links and routes, in the host's namespace or a pod's: typed operations over the hands' effect NETLINK.
// Nothing that comes from a delegate or a configuration becomes a message of its own making.

import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { formatAddress } from "../../src/net/ip.ts";
import type { Hands } from "../hands/hands.ts";
import { type Link, linkIn, linksRequest } from "./link.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "./message.ts";
import { addition, type DefaultRoute, MAIN_TABLE, removal, restoration, type Route, routeIn, routesRequest } from "./route.ts";
import { systemError } from "./system-error.ts";

type Asks = Pick<Hands, "netlink">;

/** A dump that others disturb is asked for again, this often. */
const dumps = 5;
const deadlineMs = 10_000;
const EAFNOSUPPORT = 97;
const EOPNOTSUPP = 95;

/**
 * The links of the network namespace at this path (empty: the host's), loopback included, by index. Fault NETLINK_FAILED: no
 * such namespace, or the kernel refused.
 */
export async function listLinks(hands: Asks, namespace: string): Promise<Result<readonly Link[]>> {
  const answer = await dump(hands, namespace, linksRequest, "listing the links");
  if (!answer.ok) return answer;
  if (answer.value.errno !== 0) return failed(refusal("listing the links", namespace, answer.value));
  return ok(answer.value.messages.flatMap((message) => linkIn(message) ?? []));
}

/** The routes of the main table, IPv4 before IPv6, each in the kernel's order. Fault NETLINK_FAILED. */
export async function listRoutes(hands: Asks, namespace: string): Promise<Result<readonly Route[]>> {
  const routes: Route[] = [];
  for (const family of [4, 6] as const) {
    const what = `listing the IPv${family} routes`;
    const answer = await dump(hands, namespace, routesRequest(family), what);
    if (!answer.ok) return answer;
    const { errno, messages } = answer.value;
    if (errno === EAFNOSUPPORT || errno === EOPNOTSUPP) continue; // a kernel without this family
    if (errno !== 0) return failed(refusal(what, namespace, answer.value));
    const found = messages.flatMap((message) => routeIn(message) ?? []);
    routes.push(...found.filter((route) => route.family === family && route.table === MAIN_TABLE));
  }
  return ok(routes);
}

/**
 * Removes a route as `listRoutes` told it, with all its next hops. `link`: its name, for the error. Fault NETLINK_FAILED, also where it
 * is gone meanwhile (ESRCH in the message). What the kernel takes for unset in a request (metric 0 of IPv4, no preferred source) matches any:
 * if that very route has gone since it was listed, another one to the same destination over the same next hop goes instead.
 */
export function deleteRoute(hands: Asks, namespace: string, route: Route, link?: string): Promise<Result<void>> {
  return change(hands, namespace, removal(route), `deleting the route ${described(route, link)}`);
}

/** Puts back a route that `deleteRoute` removed. Fault NETLINK_FAILED, also where one like it is there (EEXIST). */
export function restoreRoute(hands: Asks, namespace: string, route: Route, link?: string): Promise<Result<void>> {
  return change(hands, namespace, restoration(route), `restoring the route ${described(route, link)}`);
}

/** Adds a default route. `link`: the name of its link, for the error. Fault NETLINK_FAILED, also where one with this metric is there. */
export function addDefaultRoute(hands: Asks, namespace: string, route: DefaultRoute, link?: string): Promise<Result<void>> {
  const { family, gateway, oif, metric } = route;
  const told = { dst: family === 4 ? "0.0.0.0/0" : "::/0", gateway: gateway && formatAddress(gateway), oif, metric };
  return change(hands, namespace, addition(route), `adding the route ${described(told, link)}`);
}

async function change(hands: Asks, namespace: string, request: NetlinkRequest, what: string): Promise<Result<void>> {
  const answer = await ask(hands, namespace, request, what);
  if (!answer.ok) return answer;
  return answer.value.errno === 0 ? ok(undefined) : failed(refusal(what, namespace, answer.value));
}

async function dump(hands: Asks, namespace: string, request: NetlinkRequest, what: string): Promise<Result<NetlinkAnswer>> {
  for (let tries = 1; ; tries++) {
    const answer = await ask(hands, namespace, request, what);
    if (!answer.ok || !answer.value.interrupted) return answer;
    if (tries === dumps) return failed(failure(what, namespace, `it changed during each of ${dumps} tries`));
  }
}

async function ask(hands: Asks, namespace: string, request: NetlinkRequest, what: string): Promise<Result<NetlinkAnswer>> {
  const { errno, sent, reply } = await hands.netlink({ path: namespace, request: encodeRequests([request]), deadlineMs });
  const [answer] = decodeAnswers(reply, 1);
  if (errno === 0 && answer !== undefined) return ok(answer);
  const why = sent ? "the kernel's answer did not come whole, so what it did is not known" : "it could not be entered or asked";
  return failed(failure(what, namespace, `${why}: ${systemError(errno)}`));
}

function refusal(what: string, namespace: string, { errno, words }: NetlinkAnswer): Fault {
  return failure(what, namespace, `${systemError(errno)}${words === "" ? "" : `: ${words}`}`);
}

function failure(what: string, namespace: string, why: string): Fault {
  return fault("NETLINK_FAILED", `${what} in ${namespace === "" ? "the host's network namespace" : namespace}: ${why}`);
}

/** As ip(8) would write it. */
function described(
  route: {
    readonly dst: string;
    readonly gateway?: string | undefined;
    readonly via?: string | undefined;
    readonly oif?: number | undefined;
    readonly metric?: number | undefined;
  },
  link: string | undefined,
): string {
  const { dst, gateway = route.via, oif, metric } = route;
  const device = link ?? (oif === undefined ? undefined : `link ${oif}`);
  return [dst, gateway && `via ${gateway}`, device && `dev ${device}`, metric && `metric ${metric}`].filter(Boolean).join(" ");
}
