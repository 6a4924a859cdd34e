// Plexus's operations on links and routes in the host's namespace or a pod's, over the shim's effect NETLINK. They are typed: neither a
// delegate nor a configuration can form a message.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress } from "../../../src/net/ip.ts";
import { deadlineMs, maxDumps, type NetlinkSender } from "./exchange.ts";
import { type Link, linkIn, linksRequest } from "./link.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "./message.ts";
import {
  defaultRouteAddition,
  type DefaultRoute,
  MAIN_TABLE,
  listedRouteRemoval,
  type Route,
  routeIn,
  routesRequest,
} from "./route.ts";
import { systemError } from "../system-error.ts";
import { EAFNOSUPPORT, EOPNOTSUPP, EXDEV } from "../errno.ts";

/**
 * The links of the network namespace at this path (empty: the host's), loopback included, by index. Faults: NETLINK_FAILED: no
 * such namespace, or the kernel refused; ENVIRONMENT_INVALID: the path leads to the host's namespace.
 */
export async function listLinks(shim: NetlinkSender, namespace: string): Promise<Result<readonly Link[]>> {
  const answer = await dump(shim, namespace, linksRequest, "listing the links");
  if (!answer.ok) return answer;
  if (answer.value.errno !== 0) return failed(refusal("listing the links", namespace, answer.value));
  return ok(answer.value.messages.flatMap((message) => linkIn(message) ?? []));
}

/** The routes of the main table, IPv4 before IPv6, each in the kernel's order. Fault NETLINK_FAILED. */
export async function listRoutes(shim: NetlinkSender, namespace: string): Promise<Result<readonly Route[]>> {
  const routes: Route[] = [];
  for (const family of [4, 6] as const) {
    const action = `listing the IPv${family} routes`;
    const answer = await dump(shim, namespace, routesRequest(family), action);
    if (!answer.ok) return answer;
    const { errno, messages } = answer.value;
    if (errno === EAFNOSUPPORT || errno === EOPNOTSUPP) continue; // a kernel without this family
    if (errno !== 0) return failed(refusal(action, namespace, answer.value));
    const found = messages.flatMap((message) => routeIn(message) ?? []);
    routes.push(...found.filter((route) => route.family === family && route.table === MAIN_TABLE));
  }
  return ok(routes);
}

/**
 * Removes a route of `listRoutes` with all its next hops. `link`: the link's name, for the error. Fault NETLINK_FAILED, also where the route
 * is gone meanwhile (ESRCH in the message). A value that the kernel treats as unset (metric 0 of IPv4, no preferred source) matches any:
 * if the route is gone, the kernel may remove another route to the same destination over the same next hop.
 */
export function deleteRoute(shim: NetlinkSender, namespace: string, route: Route, link?: string): Promise<Result<void>> {
  return change(shim, namespace, listedRouteRemoval(route), `deleting the route ${described(route, link)}`);
}

/** Adds a default route. `link`: the link's name, for the error. Fault NETLINK_FAILED, also where a default route with this metric exists. */
export function addDefaultRoute(
  shim: NetlinkSender,
  namespace: string,
  route: DefaultRoute,
  link?: string,
): Promise<Result<void>> {
  const { family, gateway, oif, metric } = route;
  const text = { dst: family === 4 ? "0.0.0.0/0" : "::/0", gateway: gateway && formatAddress(gateway), oif, metric };
  return change(shim, namespace, defaultRouteAddition(route), `adding the route ${described(text, link)}`);
}

async function change(shim: NetlinkSender, namespace: string, request: NetlinkRequest, action: string): Promise<Result<void>> {
  const answer = await ask(shim, namespace, request, action);
  if (!answer.ok) return answer;
  return answer.value.errno === 0 ? ok(undefined) : failed(refusal(action, namespace, answer.value));
}

async function dump(
  shim: NetlinkSender,
  namespace: string,
  request: NetlinkRequest,
  action: string,
): Promise<Result<NetlinkAnswer>> {
  for (let tries = 1; ; tries++) {
    const answer = await ask(shim, namespace, request, action);
    if (!answer.ok || !answer.value.interrupted) return answer;
    if (tries === maxDumps) return failed(failure(action, namespace, `the dump was interrupted by changes ${maxDumps} times`));
  }
}

async function ask(
  shim: NetlinkSender,
  namespace: string,
  request: NetlinkRequest,
  action: string,
): Promise<Result<NetlinkAnswer>> {
  const { errno, sent, reply } = await shim.netlink({ path: namespace, request: encodeRequests([request]), deadlineMs });
  const [answer] = decodeAnswers(reply, 1);
  if (errno === 0 && answer !== undefined) return ok(answer);
  if (errno === EXDEV && !sent)
    return failed(fault("ENVIRONMENT_INVALID", `CNI_NETNS: ${action} in ${namespace}: this network namespace is the node's own`));
  const reason = sent
    ? "the kernel's answer is incomplete, so it is unknown whether the change was made"
    : "the shim could not enter the namespace or ask the kernel";
  return failed(failure(action, namespace, `${reason}: ${systemError(errno)}`));
}

function refusal(action: string, namespace: string, { errno, errorText }: NetlinkAnswer): Fault {
  return failure(action, namespace, `${systemError(errno)}${errorText === "" ? "" : `: ${errorText}`}`);
}

function failure(action: string, namespace: string, reason: string): Fault {
  return fault("NETLINK_FAILED", `${action} in ${namespace === "" ? "the host's network namespace" : namespace}: ${reason}`);
}

/** The route in the notation of ip(8). */
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
