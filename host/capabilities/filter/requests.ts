// The requests to the capability `filter` that a call may make. The node and the kit for authors have the same rules. No I/O.

import { chainPattern, linkPattern, matchesPattern, zonePattern } from "../../../src/configuration/grant-patterns.ts";
import { defaultAdminChain, type FilterGrant } from "../../../src/configuration/keys/grant-keys.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { formatAddress, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { FilterAcceptance, FilterIngressPolicy } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { KnownAddresses } from "../call-facts.ts";
import { misuseOf } from "../outcome.ts";
import { type VerbCall, verbRules } from "../verb-rules.ts";

/** The call that makes the request, and its grant. */
export interface FilterCall extends VerbCall {
  /** The delegate's type. */
  readonly type: string;
  readonly grant: FilterGrant;
  /** The attachment's addresses: packets of these alone may be accepted. */
  readonly facts: KnownAddresses;
}

/** An acceptance, decoded. */
export interface Acceptance {
  readonly addresses: readonly IpAddress[];
  readonly adminChain: string;
  /** Undefined: no packets are dropped. */
  readonly separation: Separation | undefined;
  /** The zone of firewalld that the addresses enter; undefined: none. */
  readonly zone: string | undefined;
}

/** A bridge to whose pods packets are dropped. */
export interface Separation {
  readonly bridge: string;
  readonly policy: Exclude<FilterIngressPolicy, "open">;
}

/** Maximum number of addresses: the node compares each forwarded packet with the rules of all attachments, one after the other. */
const maxAddresses = 64;

/** The chains of the reference plugin, and the names that iptables and the kernel give a meaning of their own. */
const reservedChains: ReadonlySet<string> = new Set(
  `CNI-FORWARD CNI-ISOLATION-STAGE-1 CNI-ISOLATION-STAGE-2
  PREROUTING INPUT FORWARD OUTPUT POSTROUTING ACCEPT DROP RETURN QUEUE`.split(/\s+/u),
);

export const misused = misuseOf("filter");

/** The rules about verbs. */
export const { attachmentIn, retainDenial } = verbRules(misused);

/** The attachment's addresses of the call, as far as they can be read. */
export function ownAddresses({ facts }: FilterCall): readonly IpAddress[] {
  return facts.addresses.flatMap((text) => addressIn(text) ?? []);
}

/** The acceptance, decoded. Faults: CAPABILITY_MISUSED, NOT_GRANTED. */
export function allowedAcceptance(call: FilterCall, requested: FilterAcceptance): Result<Acceptance> {
  const { adminChain, ingress, bridge } = requested;
  const known = new Set(ownAddresses(call).map(formatAddress));
  const addresses = new Map<string, IpAddress>();
  for (const text of requested.addresses) {
    const address = addressIn(text);
    if (address === undefined) return failed(misused(`${quote(text, 60)} is not an IP address`));
    const formatted = formatAddress(address);
    if (!known.has(formatted))
      return failed(misused(`${formatted} is not an address of the attachment, which has ${listed(known)}`));
    addresses.set(formatted, address);
  }
  if (addresses.size > maxAddresses) return failed(misused(`${addresses.size} addresses; the maximum is ${maxAddresses}`));
  const chainMistake = adminChainMistake(adminChain);
  if (chainMistake !== undefined) return failed(chainMistake);
  const chains = call.grant.adminChains ?? [defaultAdminChain];
  if (!chains.some((pattern) => matchesPattern(pattern, adminChain)))
    return failed(
      notGranted({ type: call.type, key: "filter.adminChains", request: `the chain ${adminChain}`, granted: chains }),
    );
  const zone = allowedZone(call, requested.zone);
  if (!zone.ok) return zone;
  const accepted = { addresses: [...addresses.values()], adminChain, zone: zone.value };
  if (ingress === "open") return ok({ ...accepted, separation: undefined });
  if (bridge === undefined) return failed(misused(`the policy ${ingress} needs a bridge`));
  if (!linkPattern.pattern.test(bridge) || bridge.includes("*") || bridge.endsWith("+"))
    return failed(misused(`${quote(bridge, 60)} is not the name of a bridge`));
  const bridges = call.grant.bridges ?? [];
  if (!bridges.some((pattern) => matchesPattern(pattern, bridge)))
    return failed(
      notGranted({ type: call.type, key: "filter.bridges", request: `the policy ${ingress} of ${bridge}`, granted: bridges }),
    );
  return ok({ ...accepted, separation: { bridge, policy: ingress } });
}

/** The zone of an acceptance: the requested one, or the grant's first. Faults: CAPABILITY_MISUSED, NOT_GRANTED. */
function allowedZone({ type, grant: { zones = [] } }: FilterCall, requested: string | undefined): Result<string | undefined> {
  if (requested === undefined) return ok(zones.find((zone) => !zone.includes("*")));
  if (requested === "") return ok(undefined);
  if (!zonePattern.pattern.test(requested) || requested.includes("*"))
    return failed(misused(`${quote(requested, 60)} is not the name of a zone of firewalld`));
  if (isGrantedZone(zones, requested)) return ok(requested);
  return failed(notGranted({ type, key: "filter.zones", request: `the zone ${requested} of firewalld`, granted: zones }));
}

/** Whether the grant names the zone. */
export function isGrantedZone(zones: readonly string[], zone: string): boolean {
  return zones.some((pattern) => matchesPattern(pattern, zone));
}

function adminChainMistake(name: string): Fault | undefined {
  if (!chainPattern.pattern.test(name) || name.includes("*"))
    return misused(`${quote(name, 60)} is not the name of a chain, 1 to 28 letters, digits, _, . and -`);
  return reservedChains.has(name)
    ? misused(`the chain ${name} has another use; name a chain for rules of administrators`)
    : undefined;
}

function addressIn(text: string): IpAddress | undefined {
  return readCidr(text)?.address ?? readAddress(text);
}

function listed(known: ReadonlySet<string>): string {
  return known.size === 0 ? "no known address" : [...known].join(", ");
}
