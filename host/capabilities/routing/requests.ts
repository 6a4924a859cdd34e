// The requests to the capability `routing` that a call may make. The node and the kit for authors have the same rules. No I/O.

import { checkAttachedInterfaceName } from "../../../src/cni/attachment.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { numberRange } from "../../../src/configuration/grant-patterns.ts";
import type { RoutingGrant } from "../../../src/configuration/keys/grant-keys.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { type Cidr, networkOf, readCidr } from "../../../src/net/ip.ts";
import type { LinksPlace, RoutingMark, RoutingRule } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type RuleSpec, ruleText } from "../../system/netlink/rule.ts";
import { misuseOf } from "../outcome.ts";

/** The call that makes the request, and its grant. */
export interface RoutingCall {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  readonly verb: Verb;
  readonly hasPod: boolean;
  /** `all`: a test's node grants each table and each priority. */
  readonly grant: RoutingGrant | "all";
}

/** A request of the capability. */
export type RoutingRequest = "add-rules" | "delete-rules" | "list-rules" | "routes" | "free-tables";

/** Maximum number of rules in one request, and of tables that `free-tables` answers. */
const maxRules = 256;
export const maxFreeTables = 64;

/** The first table that `free-tables` answers. */
export const firstFreeTable = 100;

/** Verbs that may change rules. A GC has no pod. */
const changingVerbs: { readonly [R in "add-rules" | "delete-rules"]: readonly Verb[] } = {
  "add-rules": ["ADD"],
  "delete-rules": ["ADD", "DEL", "GC"],
};

const misused = misuseOf("routing");

/** The fault of a request that the verb forbids, or that needs a pod where the call has none; undefined if it is allowed. */
export function requestDenial({ verb, hasPod }: RoutingCall, request: RoutingRequest, place: LinksPlace): Fault | undefined {
  if (request === "add-rules" || request === "delete-rules") {
    const verbs = changingVerbs[request];
    if (!verbs.includes(verb)) return misused(`${request} is allowed in ${verbs.join(", ")} only, and this call is ${verb}`);
  }
  return place === "pod" && !hasPod ? misused(`${request}: a ${verb} call has no pod`) : undefined;
}

/** The requested rules, decoded. Faults: CAPABILITY_MISUSED for a malformed rule, NOT_GRANTED for one of the node. */
export function readRules(
  call: RoutingCall,
  request: "add-rules" | "delete-rules",
  place: LinksPlace,
  rules: readonly RoutingRule[],
): Result<readonly RuleSpec[]> {
  const denied = requestDenial(call, request, place);
  if (denied !== undefined) return failed(denied);
  if (rules.length > maxRules) return failed(misused(`${rules.length} rules in one request; the maximum is ${maxRules}`));
  const read: RuleSpec[] = [];
  for (const [number, rule] of rules.entries()) {
    const spec = specOf(rule);
    if (typeof spec === "string") return failed(misused(`${request}: rule ${number}: ${spec}`));
    const refused = place === "host" ? nodeDenial(call, `${request}: rule ${number} (${ruleText(spec)})`, spec) : undefined;
    if (refused !== undefined) return failed(refused);
    read.push(spec);
  }
  return ok(read);
}

/** The rule, decoded; a text: the reason why it is malformed. */
function specOf({
  family: name,
  priority,
  source,
  destination,
  incomingLink,
  outgoingLink,
  mark,
  table,
}: RoutingRule): RuleSpec | string {
  const family = name === "ipv4" ? 4 : 6;
  const [from, to] = [networkIn(source, family), networkIn(destination, family)];
  if (typeof from === "string" || typeof to === "string") return typeof from === "string" ? from : String(to);
  if (table === 0) return "table 0 is no table";
  for (const link of [incomingLink, outgoingLink]) {
    const checked = link === undefined ? undefined : checkAttachedInterfaceName(link);
    if (checked?.ok === false) return checked.fault.msg;
  }
  const mistake = markMistake(mark);
  return mistake ?? { family, priority, source: from, destination: to, incomingLink, outgoingLink, mark, table };
}

/** A network of the family; undefined: every address. A text: the reason why it is none. */
function networkIn(text: string | undefined, family: 4 | 6): Cidr | string | undefined {
  if (text === undefined) return undefined;
  const network = readCidr(text);
  if (network === undefined) return `${quote(text, 60)} is not an IP address with a prefix length`;
  if (network.address.family !== family) return `${quote(text, 60)} is not an address of IPv${family}`;
  return network.prefix === 0 ? undefined : { ...network, address: networkOf(network).first };
}

function markMistake(mark: RoutingMark | undefined): string | undefined {
  return mark?.mask === 0 ? "a mark with the mask 0 is no condition" : undefined;
}

/** The fault of a rule of the node whose table or priority is not granted. */
function nodeDenial(call: RoutingCall, request: string, { table, priority }: RuleSpec): Fault | undefined {
  if (priority === undefined) return misused(`${request} has no priority, which a rule of the node needs`);
  return (
    numberDenial(call, "tables", table, `${request}: table ${table} of the node`) ??
    numberDenial(call, "priorities", priority, `${request}: priority ${priority} of the node`)
  );
}

/** The fault of `list-rules` on the node without any granted table or priority. */
export function listDenial(call: RoutingCall, place: LinksPlace): Fault | undefined {
  const denied = requestDenial(call, "list-rules", place);
  if (denied !== undefined || place === "pod" || call.grant === "all") return denied;
  for (const key of ["tables", "priorities"] as const) {
    if ((call.grant[key] ?? []).length === 0) return grantDenial(call, key, "list-rules: rules of the node");
  }
  return undefined;
}

/** The fault of a table of the node that is not granted. */
export function routesDenial(call: RoutingCall, place: LinksPlace, table: number): Fault | undefined {
  const denied = requestDenial(call, "routes", place);
  if (denied !== undefined || place === "pod") return denied;
  return numberDenial(call, "tables", table, `routes: table ${table} of the node`);
}

/** The fault of `free-tables`. */
export function freeTablesDenial(call: RoutingCall, count: number): Fault | undefined {
  const denied = requestDenial(call, "free-tables", "pod");
  if (denied !== undefined || count <= maxFreeTables) return denied;
  return misused(`free-tables: ${count} tables in one request; the maximum is ${maxFreeTables}`);
}

/** Whether the call may know a rule of this place. */
export function mayList({ grant }: RoutingCall, place: LinksPlace, { table, priority = 0 }: RuleSpec): boolean {
  return place === "pod" || grant === "all" || (isListed(grant.tables, table) && isListed(grant.priorities, priority));
}

function numberDenial(call: RoutingCall, key: keyof RoutingGrant, number: number, request: string): Fault | undefined {
  return call.grant === "all" || isListed(call.grant[key], number) ? undefined : grantDenial(call, key, request);
}

function grantDenial({ type, grant }: RoutingCall, key: keyof RoutingGrant, request: string): Fault {
  const granted = grant === "all" ? [] : (grant[key] ?? []);
  return notGranted({ type, key: `routing.${key}`, request: `routing: ${request}`, granted });
}

function isListed(ranges: readonly string[] | undefined, number: number): boolean {
  return (
    ranges?.some((range) => {
      const [first, last] = numberRange(range) ?? [1, 0];
      return number >= first && number <= last;
    }) ?? false
  );
}

/** Whether the rule is one of the three that every namespace has. */
export function isInitial({ priority, table, source, destination, incomingLink, outgoingLink, mark }: RuleSpec): boolean {
  const isPlain = [source, destination, incomingLink, outgoingLink, mark].every((each) => each === undefined);
  return isPlain && initialRules.some(([at, to]) => at === priority && to === table);
}

const initialRules: readonly (readonly [priority: number, table: number])[] = [
  [0, 255],
  [32_766, 254],
  [32_767, 253],
];

/** The lowest `count` tables from 100 that are not in `used`. */
export function freeTablesBeside(used: ReadonlySet<number>, count: number): readonly number[] {
  const free: number[] = [];
  for (let table = firstFreeTable; free.length < count; table++) if (!used.has(table)) free.push(table);
  return free;
}
