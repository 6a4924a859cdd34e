// Policy rules and routes of tables in the kernel: listed, added all or none, removed.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { deadlineMs, maxDumps, type NetlinkSender } from "../../system/netlink/exchange.ts";
import { unreachable } from "../../protocol/unreachable.ts";
import { EAFNOSUPPORT, EEXIST, EINVAL, ENOENT, ENOTDIR, EOPNOTSUPP, ESRCH } from "../../system/errno.ts";
import { linkRequest, linksOfKindRequest } from "../../system/netlink/link-change.ts";
import { linkStateIn, linkStatesIn } from "../../system/netlink/link-state.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import { type Route, routeIn, routesRequest } from "../../system/netlink/route.ts";
import {
  isRule,
  type Rule,
  ruleAddition,
  ruleIn,
  ruleRemoval,
  rulesRequest,
  ruleText,
  type RuleSpec,
} from "../../system/netlink/rule.ts";
import { systemError } from "../../system/system-error.ts";

/** A network namespace with the shim that sends messages in it. */
export interface RoutingNamespace {
  readonly shim: NetlinkSender;
  /** Undefined: the node's own. Empty: the pod's no longer exists. */
  readonly netns: string | undefined;
}

interface Exchange {
  readonly answers: readonly (NetlinkAnswer | undefined)[];
  readonly errno: number;
  readonly sent: boolean;
}

const families = [4, 6] as const;

/** The rules of these families, in the kernel's order. A namespace that is gone has none. */
export async function listRules(
  namespace: RoutingNamespace,
  wanted: Iterable<4 | 6> = families,
): Promise<Result<readonly Rule[]>> {
  const asked = [...wanted].map((family) => dump(namespace, rulesRequest(family), `listing the rules of IPv${family}`));
  return found(await Promise.all(asked), ruleIn);
}

/** The routes of all tables. A namespace that is gone has none. */
export async function listRoutes(namespace: RoutingNamespace): Promise<Result<readonly Route[]>> {
  const asked = families.map((family) => dump(namespace, routesRequest(family), `listing the routes of IPv${family}`));
  return found(await Promise.all(asked), routeIn);
}

/** The parts of the dumps that `read` knows, in the order of the dumps; or the first dump's fault. */
function found<T>(
  answers: readonly Result<NetlinkAnswer | undefined>[],
  read: (message: NetlinkAnswer["messages"][number]) => T | undefined,
): Result<readonly T[]> {
  const all: T[] = [];
  for (const answer of answers) {
    if (!answer.ok) return answer;
    all.push(...(answer.value?.messages.flatMap((message) => read(message) ?? []) ?? []));
  }
  return ok(all);
}

/** The tables of the VRFs, also of those whose interfaces are down and have no route. */
export async function vrfTables(namespace: RoutingNamespace): Promise<Result<readonly number[]>> {
  const answer = await dump(namespace, linksOfKindRequest("vrf"), "listing the VRFs");
  if (!answer.ok) return answer;
  return ok(answer.value?.messages.flatMap((message) => linkStateIn(message)?.vrfTable ?? []) ?? []);
}

/** The names of links by index; a link that is gone has none. */
export async function linkNames(namespace: RoutingNamespace, indexes: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (indexes.length === 0) return new Map();
  const { answers } = await send(namespace, indexes.map(linkRequest));
  const states = answers.flatMap((answer) => linkStatesIn(answer));
  return new Map(states.map(({ index, name }) => [index, name]));
}

/**
 * Adds the rules that do not exist, or none: the kernel would add an equal rule with another priority. `known`: the namespace's rules, if the call has
 * just listed them. Fault NETLINK_FAILED; its details name rules that could not be removed again.
 */
export async function addRules(
  namespace: RoutingNamespace,
  rules: readonly RuleSpec[],
  known?: readonly Rule[],
): Promise<Result<undefined>> {
  const before = known === undefined ? await listRules(namespace, familiesOf(rules)) : ok(known);
  if (!before.ok) return before;
  const unique = rules.filter((rule, at) => rules.findIndex((other) => ruleText(other) === ruleText(rule)) === at);
  const missing = unique.filter((rule) => !before.value.some((listed) => isRule(listed, rule)));
  if (missing.length === 0) return ok(undefined);
  const exchange = await send(namespace, missing.map(ruleAddition));
  const reason = missing.flatMap(
    (rule, at) => refusalOf(namespace, exchange, at, `adding the rule ${ruleText(rule)}`, [EEXIST]) ?? [],
  )[0];
  if (reason === undefined) return ok(undefined);
  const left = exchange.sent ? await removeAgain(namespace, missing, before.value) : [];
  return failed(left.length === 0 ? reason : { ...reason, details: left.join("\n") });
}

/** Removes those of the rules that were not there before. Answers a line for each that could not be removed. */
async function removeAgain(
  namespace: RoutingNamespace,
  rules: readonly RuleSpec[],
  before: readonly Rule[],
): Promise<readonly string[]> {
  const now = await listRules(namespace, familiesOf(rules));
  if (!now.ok) return rules.map((rule) => `not undone: adding the rule ${ruleText(rule)}: ${now.fault.msg}`);
  const earlier = new Set(before.map(({ raw }) => raw.toString()));
  const added = now.value.filter((listed) => !earlier.has(listed.raw.toString()) && rules.some((rule) => isRule(listed, rule)));
  return (await remove(namespace, added)).map(({ msg }) => `not undone: ${msg}`);
}

/** Removes the rules with exactly these members. Fault NETLINK_FAILED, after all others were removed. */
export async function deleteRules(namespace: RoutingNamespace, rules: readonly RuleSpec[]): Promise<Result<undefined>> {
  const listed = await listRules(namespace, familiesOf(rules));
  if (!listed.ok) return listed;
  const [first] = await remove(
    namespace,
    listed.value.filter((each) => rules.some((rule) => isRule(each, rule))),
  );
  return first === undefined ? ok(undefined) : failed(first);
}

async function remove(namespace: RoutingNamespace, rules: readonly Rule[]): Promise<readonly Fault[]> {
  if (rules.length === 0) return [];
  const exchange = await send(namespace, rules.map(ruleRemoval));
  if (isGone(namespace, exchange)) return [];
  return rules.flatMap(
    (rule, at) => refusalOf(namespace, exchange, at, `removing the rule ${ruleText(rule)}`, [ENOENT, ESRCH]) ?? [],
  );
}

function familiesOf(rules: readonly RuleSpec[]): ReadonlySet<4 | 6> {
  return new Set(rules.map(({ family }) => family));
}

/** The answer to a dump; undefined for a kernel without the address family, and for a namespace that is gone. */
async function dump(
  namespace: RoutingNamespace,
  request: NetlinkRequest,
  action: string,
): Promise<Result<NetlinkAnswer | undefined>> {
  for (let tries = 1; ; tries++) {
    const exchange = await send(namespace, [request]);
    if (isGone(namespace, exchange)) return ok(undefined);
    const [answer] = exchange.answers;
    const refused = refusalOf(namespace, exchange, 0, action, [EAFNOSUPPORT, EOPNOTSUPP]);
    if (refused !== undefined) return failed(refused);
    if (answer?.interrupted !== true) return ok(answer?.errno === 0 ? answer : undefined);
    if (tries === maxDumps) return failed(failure(action, `concurrent changes interrupted the dump ${maxDumps} times`));
  }
}

async function send({ shim, netns }: RoutingNamespace, requests: readonly NetlinkRequest[]): Promise<Exchange> {
  if (netns === "") return { answers: [], errno: ENOENT, sent: false };
  const path = netns ?? "";
  const { errno, sent, reply } = await shim.netlink({ path, request: encodeRequests(requests), deadlineMs });
  return { answers: decodeAnswers(reply, requests.length), errno, sent };
}

/** Whether the pod's namespace no longer exists, judged by the errno of entering it. */
function isGone({ netns }: RoutingNamespace, { sent, errno }: Exchange): boolean {
  return netns !== undefined && !sent && (errno === ENOENT || errno === ENOTDIR || errno === EINVAL);
}

/** The fault of one request; undefined if the kernel has carried it out, or refused it with an ignored errno. */
function refusalOf(
  { netns }: RoutingNamespace,
  { answers, errno, sent }: Exchange,
  at: number,
  action: string,
  ignored: readonly number[],
): Fault | undefined {
  const answer = answers[at];
  if (!sent) {
    if (netns !== undefined) return unreachable("NETLINK_FAILED", "routing", netns, errno);
    return failure(action, `the shim could not ask the kernel: ${systemError(errno)}`);
  }
  if (answer === undefined)
    return failure(action, "the kernel's answer is incomplete, so it is unknown whether the change was made");
  if (answer.errno === 0 || ignored.includes(answer.errno)) return undefined;
  return failure(action, `${systemError(answer.errno)}${answer.errorText === "" ? "" : `: ${answer.errorText}`}`);
}

function failure(action: string, reason: string): Fault {
  return fault("NETLINK_FAILED", `routing: ${action}: ${reason}`);
}
