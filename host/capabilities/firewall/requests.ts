// The requests to the capability `firewall` that a call may make. The node and the kit for authors have the same rules. No I/O.

import { type Denied, notGranted } from "../../../src/configuration/not-granted.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { type Cidr, formatAddress, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { FirewallCondition, FirewallPortMapping, FirewallRules } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { AttachmentFacts } from "../call-facts.ts";
import { misuseOf } from "../outcome.ts";
import type { Condition, PortMapping } from "./mappings.ts";
import { portText, type Rules } from "./rules.ts";

/** The verb of the call. */
export type Verb = "add" | "del" | "check" | "gc" | "status";

/** The call that makes the request, and its grant. */
export interface FirewallCall {
  /** The delegate's type. */
  readonly type: string;
  readonly verb: Verb;
  /** The attachment of ADD, DEL and CHECK. */
  readonly attachment?: { readonly containerId: string; readonly ifname: string } | undefined;
  readonly grant: { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined };
  /** The attachment's addresses and veths, read when a request comes: rules are allowed for these addresses only, guards for these veths. */
  readonly facts: AttachmentFacts;
}

/** Rules as a delegate requests them. */
export interface RequestedRules {
  readonly rules: FirewallRules;
  /** The conditions of all port mappings of their family. */
  readonly conditions?: readonly FirewallCondition[] | undefined;
}

/** In the kernel's spelling. */
const MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

const misused = misuseOf("firewall");

/** The call's attachment in one of `verbs`. Fault: CAPABILITY_MISUSED in another verb. */
export function attachmentIn(
  { attachment, verb }: FirewallCall,
  verbs: readonly Verb[],
): Result<NonNullable<FirewallCall["attachment"]>> {
  if (attachment !== undefined && verbs.includes(verb)) return ok(attachment);
  const allowed = verbs.map((each) => each.toUpperCase()).join(" and ");
  return failed(misused(`rules are allowed in ${allowed} only, and this call is ${verb.toUpperCase()}`));
}

/** The fault of `retain` in another verb than GC; undefined in GC. */
export function retainDenial({ verb }: FirewallCall): Fault | undefined {
  return verb === "gc" ? undefined : misused(`retain is allowed in GC only, and this call is ${verb.toUpperCase()}`);
}

/** The fault of a text that is not a MAC in the kernel's spelling; undefined for one. */
export function macMistake(mac: string): Fault | undefined {
  return MAC.test(mac) ? undefined : misused(`${quote(mac, 60)} is not a MAC address`);
}

/** The fault of a guard on a link that is not the call's: a delegate could otherwise cut off other pods. */
export function guardMistake({ facts }: FirewallCall, link: string, mac: string): Fault | undefined {
  const veths = facts.hostVeths;
  const mistake = macMistake(mac);
  if (mistake !== undefined || veths.includes(link)) return mistake;
  const text = veths.length === 0 ? "this call made no veth" : `this call made ${veths.join(", ")}`;
  return misused(`${quote(link, 60)} is not the node's end of a veth that this call made: ${text}`);
}

/** The requested rules, decoded. Faults: CAPABILITY_MISUSED for a malformed rule, NOT_GRANTED. */
export function allowedRules(
  scope: FirewallCall,
  { rules: { masquerades, portMappings }, conditions = [] }: RequestedRules,
): Result<Rules> {
  const restrictions = conditionsOf(conditions);
  if (!restrictions.ok) return restrictions;
  const known = new Set(scope.facts.addresses.flatMap((text) => addressIn(text) ?? []).map(formatAddress));
  const rules: { masquerades: { address: Cidr }[]; portMappings: PortMapping[] } = { masquerades: [], portMappings: [] };
  for (const { address } of masquerades) {
    const read = attachmentAddress(address, known);
    if (!read.ok) return read;
    if (scope.grant.masquerade !== true) {
      const request = `masquerading of ${formatAddress(read.value.address)}`;
      return failed(denied(scope, { key: "firewall.masquerade", request, granted: [] }));
    }
    rules.masquerades.push({ address: read.value });
  }
  for (const requested of portMappings) {
    const mapping = mappingOf(requested, known, restrictions.value);
    if (!mapping.ok) return mapping;
    const granted = scope.grant.hostPorts ?? [];
    if (!granted.some((range) => isWithin(range, mapping.value.hostPort)))
      return failed(denied(scope, { key: "firewall.hostPorts", request: portText(mapping.value), granted }));
    rules.portMappings.push(mapping.value);
  }
  return ok(rules);
}

/** The conditions, decoded. Fault: CAPABILITY_MISUSED. */
function conditionsOf(requested: readonly FirewallCondition[]): Result<readonly Condition[]> {
  const conditions: Condition[] = [];
  for (const { side, negated, network: text } of requested) {
    const network = readCidr(text);
    if (network === undefined) return failed(misused(`${quote(text, 60)} is not an IP address with a prefix length`));
    // iptables has one for each side, too, and a rule's comment holds no more.
    if (conditions.some((other) => other.which === side && other.network.address.family === network.address.family))
      return failed(misused(`there are two conditions on the ${side} of IPv${network.address.family}`));
    conditions.push({ which: side, operation: negated ? "is not" : "is", network });
  }
  return ok(conditions);
}

function mappingOf(
  requested: FirewallPortMapping,
  known: ReadonlySet<string>,
  restrictions: readonly Condition[],
): Result<PortMapping> {
  const { protocol, hostPort, podAddress, podPort, masquerading } = requested;
  const pod = attachmentAddress(podAddress, known);
  if (!pod.ok) return pod;
  if (hostPort === 0 || podPort === 0) return failed(misused("a port mapping has port 0"));
  const hostAddress = requested.hostAddress === undefined ? undefined : readAddress(requested.hostAddress);
  if (requested.hostAddress !== undefined && hostAddress?.family !== pod.value.address.family)
    return failed(
      misused(`host address ${quote(requested.hostAddress, 60)} is not an IP address of the family of ${quote(podAddress, 60)}`),
    );
  if (hostAddress?.value === 0n)
    return failed(misused("the host address of a port mapping is all zeros; leave it out to map the port at all addresses"));
  const conditions = restrictions.filter(({ network }) => network.address.family === pod.value.address.family);
  return ok({ protocol, hostAddress, hostPort, pod: pod.value, podPort, masquerading, conditions });
}

/** An address of the attachment. Other addresses are refused: a delegate could otherwise redirect other pods' connections. */
function attachmentAddress(text: string, known: ReadonlySet<string>): Result<Cidr> {
  const cidr = readCidr(text);
  if (cidr === undefined) return failed(misused(`${quote(text, 60)} is not an IP address with a prefix length`));
  if (known.has(formatAddress(cidr.address))) return ok(cidr);
  const has = known.size === 0 ? "no known address" : [...known].join(", ");
  return failed(misused(`${formatAddress(cidr.address)} is not an address of the attachment, which has ${has}`));
}

function addressIn(text: string): IpAddress | undefined {
  return readCidr(text)?.address ?? readAddress(text);
}

/** Whether the port is in a range of the grant, such as `80` or `30000-32767`. */
function isWithin(range: string, port: number): boolean {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range);
  if (match === null) return false;
  return port >= Number(match[1]) && port <= Number(match[2] ?? match[1]);
}

/** Fault: NOT_GRANTED. */
function denied({ type }: FirewallCall, request: Omit<Denied, "type">): Fault {
  return notGranted({ type, ...request });
}
