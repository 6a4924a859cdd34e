// Binds the capability `routing` to one call: its pod, its verb, and the tables and priorities of the node that its delegate is granted. Any other
// request is refused here, before a message is sent.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import type {
  LinksInstalledRoute,
  LinksPlace,
  RoutingCapability,
  RoutingRule,
} from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { formatCidr } from "../../../src/net/ip.ts";
import type { Rule, RuleSpec } from "../../system/netlink/rule.ts";
import { isUnicast, linkIndexesOf, routeAnswers } from "../links/route-answer.ts";
import { type Deferred, refuse, witOutcome } from "../outcome.ts";
import { listedFor } from "../pod-lists.ts";
import {
  freeTablesBeside,
  freeTablesDenial,
  isInitial,
  listDenial,
  mayList,
  readRules,
  type RoutingCall,
  routesDenial,
} from "./requests.ts";
import { addRules, deleteRules, linkNames, listRoutes, listRules, type RoutingNamespace, vrfTables } from "./rules.ts";

/** The call that the capability is bound to, and its grant. */
export interface RoutingScope extends RoutingCall {
  /** Path of the pod's network namespace; empty if the namespace is gone. */
  readonly netns: string;
}

/** The WIT interface `routing`; its functions answer when the shim has. */
export type Routing = Deferred<RoutingCapability>;

/** The capability for the delegate of one call. */
export function routingFor(scope: RoutingScope, shim: NetlinkSender): Routing {
  const at = (place: LinksPlace): RoutingNamespace => ({ shim, netns: place === "pod" ? scope.netns : undefined });
  // The pod's rules, which a search for free tables has listed. The call's own changes make them old.
  let podRules: readonly Rule[] | undefined;
  return {
    addRules: async (place, rules) => {
      const read = readRules(scope, "add-rules", place, rules);
      if (!read.ok) return witOutcome(read);
      const listed = place === "pod" ? podRules : undefined;
      podRules = undefined;
      return witOutcome(await addRules(at(place), read.value, listed));
    },
    deleteRules: async (place, rules) => {
      const read = readRules(scope, "delete-rules", place, rules);
      podRules = undefined;
      return witOutcome(read.ok ? await deleteRules(at(place), read.value) : read);
    },
    listRules: async (place) => {
      const denied = listDenial(scope, place);
      if (denied !== undefined) return refuse(denied);
      const listed = await listRules(at(place));
      if (!listed.ok) return witOutcome(listed);
      const shown = listed.value.filter((rule) => rule.isWhole && !isInitial(rule) && mayList(scope, place, rule));
      return { ok: listedFor(scope, place, shown).map(ruleAnswer) };
    },
    routes: async (place, table) => {
      const denied = routesDenial(scope, place, table);
      return denied === undefined ? witOutcome(await routesOf(scope, place, at(place), table)) : refuse(denied);
    },
    freeTables: async (count) => {
      const denied = freeTablesDenial(scope, count);
      if (denied !== undefined) return refuse(denied);
      const found = await freeTables(at("pod"), count);
      if (found.ok) podRules = found.value.rules;
      return witOutcome(found.ok ? ok(found.value.tables) : found);
    },
  };
}

async function routesOf(
  call: RoutingCall,
  place: LinksPlace,
  namespace: RoutingNamespace,
  table: number,
): Promise<Result<readonly LinksInstalledRoute[]>> {
  const listed = await listRoutes(namespace);
  if (!listed.ok) return listed;
  const found = listedFor(
    call,
    place,
    listed.value.filter((route) => isUnicast(route) && route.table === table),
  );
  const names = await linkNames(namespace, linkIndexesOf(found));
  return ok(found.flatMap((route) => routeAnswers(route, (index) => names.get(index), "unnamed")));
}

/** Tables of the pod that nothing uses, and the rules that this search has listed. */
interface FreeTables {
  readonly tables: readonly number[];
  readonly rules: readonly Rule[];
}

async function freeTables(namespace: RoutingNamespace, count: number): Promise<Result<FreeTables>> {
  // Together: each dump is a round trip to the shim.
  const [rules, routes, vrfs] = await Promise.all([listRules(namespace), listRoutes(namespace), vrfTables(namespace)]);
  if (!rules.ok) return failed(rules.fault);
  if (!routes.ok) return failed(routes.fault);
  if (!vrfs.ok) return failed(vrfs.fault);
  const used = new Set([...[...rules.value, ...routes.value].map(({ table }) => table), ...vrfs.value]);
  return ok({ tables: freeTablesBeside(used, count), rules: rules.value });
}

/** The record `rule` of the WIT interface. */
export function ruleAnswer({ family, source, destination, ...rest }: RuleSpec): RoutingRule {
  const { priority, incomingLink, outgoingLink, mark, table } = rest;
  return {
    family: family === 4 ? "ipv4" : "ipv6",
    priority,
    source: source === undefined ? undefined : formatCidr(source),
    destination: destination === undefined ? undefined : formatCidr(destination),
    incomingLink,
    outgoingLink,
    mark,
    table,
  };
}
