// Binds the capability `firewall` to one call: its attachment, its verb, and the delegate's grant. Requests beyond that are refused here, before
// any change.

import { type Denied, notGranted } from "../../../src/configuration/not-granted.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { type Cidr, formatAddress, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import type {
  FirewallCapability,
  FirewallCondition,
  FirewallPortMapping,
  FirewallRules,
} from "../../sandbox/abi/generated/delegate-1.0.0.ts";
import type { AttachmentFacts } from "../call-facts.ts";
import { type Deferred, misuseOf, refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { check, probe, remove, replace } from "./firewall.ts";
import { framesGuarded, guardFrames, retainGuards, unguardFrames } from "./frames.ts";
import type { NetlinkShim } from "./kernel.ts";
import { removeNative } from "./native-rules.ts";
import type { Owner } from "./owner.ts";
import { retain } from "./retain.ts";
import type { Condition, PortMapping } from "./mappings.ts";
import { portText, type Rules } from "./rules.ts";

/** The verb of the call. */
export type Verb = "add" | "del" | "check" | "gc" | "status";

/** The scope of one call of `firewall`. */
export interface FirewallScope {
  /** The delegate's type. */
  readonly type: string;
  readonly network: string;
  readonly verb: Verb;
  /** The attachment of ADD, DEL and CHECK. */
  readonly attachment?: { readonly containerId: string; readonly ifname: string };
  readonly grant: { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined };
  /** The attachment's addresses and veths, read when a request comes: rules are allowed for these addresses only, guards for these veths. */
  readonly facts: AttachmentFacts;
}

/** Rules as a delegate requests them. */
interface Requested {
  readonly rules: FirewallRules;
  /** Of all port mappings of their family. */
  readonly conditions?: readonly FirewallCondition[];
}

/** In the kernel's spelling. */
const MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

/** The WIT interface `firewall`; its functions answer when the shim has. */
export type Firewall = Deferred<FirewallCapability>;

const misused = misuseOf("firewall");

/** The capability for the delegate of one call. */
export function firewallFor(scope: FirewallScope, shim: NetlinkShim): Firewall {
  return {
    replace: (rules) => forAttachment(scope, ["add"], { rules }, (owner, allowed) => replace(shim, owner, allowed)),
    check: (rules) => forAttachment(scope, ["add", "check"], { rules }, (owner, allowed) => check(shim, owner, allowed)),
    replaceRestricted: (rules, conditions) =>
      forAttachment(scope, ["add"], { rules, conditions }, (owner, allowed) => replace(shim, owner, allowed)),
    checkRestricted: (rules, conditions) =>
      forAttachment(scope, ["add", "check"], { rules, conditions }, (owner, allowed) => check(shim, owner, allowed)),
    guardFrames: async (link, mac) => {
      const mistake = guardMistake(scope, link, mac);
      if (mistake !== undefined) return refuse(mistake);
      return forAttachment(scope, ["add"], undefined, (owner) => guardFrames(shim, owner, { link, mac }));
    },
    framesGuarded: async (link, mac) => {
      if (!MAC.test(mac)) return refuse(misused(`${quote(mac, 60)} is not a MAC address`));
      return forAttachment(scope, ["add", "check"], undefined, (owner) => framesGuarded(shim, owner, { link, mac }));
    },
    remove: () =>
      forAttachment(scope, ["add", "del"], undefined, async (owner) => {
        const all = [remove(shim, owner), unguardFrames(shim, owner), removeNative(shim, owner, scope.grant)];
        return (await Promise.all(all)).find((each) => !each.ok) ?? ok(undefined);
      }),
    retain: async (valid) => {
      if (scope.verb !== "gc")
        return refuse(misused(`retain is allowed in GC only, and this call is ${scope.verb.toUpperCase()}`));
      const retained = await retain(shim, scope, valid);
      const unguarded = await retainGuards(shim, scope, valid);
      if (!retained.ok) return witOutcome(retained);
      return witOutcome(unguarded.ok ? ok(new Set([...retained.value, ...unguarded.value]).size) : unguarded);
    },
    probe: async () => witOutcome(await probe(shim)),
  };
}

/** Runs a request for the call's attachment if its verb and its rules are allowed. Faults: CAPABILITY_MISUSED, NOT_GRANTED. */
async function forAttachment<T>(
  scope: FirewallScope,
  verbs: readonly Verb[],
  requested: Requested | undefined,
  run: (owner: Owner, rules: Rules) => Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  const { attachment, type, network, verb } = scope;
  if (attachment === undefined || !verbs.includes(verb))
    return refuse(
      misused(
        `rules are allowed in ${verbs.map((each) => each.toUpperCase()).join(" and ")} only, and this call is ${verb.toUpperCase()}`,
      ),
    );
  const rules = requested === undefined ? ok({ masquerades: [], portMappings: [] }) : allowedRules(scope, requested);
  if (!rules.ok) return refuse(rules.fault);
  const { containerId, ifname } = attachment;
  return witOutcome(await run({ type, network, containerId, ifname }, rules.value));
}

/** The fault of a guard on a link that is not the call's: a delegate could otherwise cut off other pods. */
function guardMistake({ facts }: FirewallScope, link: string, mac: string): Fault | undefined {
  if (!MAC.test(mac)) return misused(`${quote(mac, 60)} is not a MAC address`);
  const veths = facts.hostVeths;
  if (veths.includes(link)) return undefined;
  const text = veths.length === 0 ? "this call made no veth" : `this call made ${veths.join(", ")}`;
  return misused(`${quote(link, 60)} is not the node's end of a veth that this call made: ${text}`);
}

/** The requested rules, decoded. Faults: CAPABILITY_MISUSED for a malformed rule, NOT_GRANTED. */
function allowedRules(scope: FirewallScope, { rules: { masquerades, portMappings }, conditions = [] }: Requested): Result<Rules> {
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
function denied({ type }: FirewallScope, request: Omit<Denied, "type">): Fault {
  return notGranted({ type, ...request });
}
