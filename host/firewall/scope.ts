// Binds the capability `firewall` to one call: its attachment, its verb, and what the administrator grants. What a delegate asks beyond that
// is refused here, before anything is touched.

import { type Denied, notGranted } from "../../src/configuration/not-granted.ts";
import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import { type Cidr, formatAddress, type IpAddress, readAddress, readCidr } from "../../src/net/ip.ts";
import type {
  Fault as WitFault,
  FirewallCapability,
  FirewallPortMapping,
  FirewallRules,
} from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";
import { check, probe, remove, replace, retain } from "./firewall.ts";
import { framesGuarded, guardFrames, retainGuards, unguardFrames } from "./frames.ts";
import type { Asks } from "./kernel.ts";
import { removeNative } from "./native-rules.ts";
import type { Owner } from "./owner.ts";
import { type PortMapping, portInWords, type Rules } from "./rules.ts";

export type Verb = "add" | "del" | "check" | "gc" | "status";

/** What one call may do with the firewall. */
export interface FirewallScope {
  /** The delegate's type. */
  readonly type: string;
  readonly network: string;
  readonly verb: Verb;
  /** The attachment of ADD, DEL and CHECK. */
  readonly attachment?: { readonly containerId: string; readonly ifname: string };
  readonly grant: { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined };
  /**
   * Addresses that the attachment is known to have, with or without prefix length: those of the previous result, and those that this
   * call gave it. Rules are made for these alone; asked for when rules come.
   */
  readonly addresses: () => readonly string[];
  /** The node's ends of veths that this call made for the attachment. */
  readonly ends?: () => readonly string[];
}

/** As the kernel spells it. */
const MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

type Deferred<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;

/** The WIT's interface `firewall`, answering later. */
export type Firewall = { readonly [F in keyof FirewallCapability]: Deferred<FirewallCapability[F]> };

/** The capability as the delegate of this one call gets it. */
export function firewallFor(scope: FirewallScope, hands: Asks): Firewall {
  return {
    replace: (rules) => acting(scope, ["add"], rules, (owner, allowed) => replace(hands, owner, allowed)),
    check: (rules) => acting(scope, ["add", "check"], rules, (owner, allowed) => check(hands, owner, allowed)),
    guardFrames: async (link, mac) => {
      const mistake = guardMistake(scope, link, mac);
      if (mistake !== undefined) return refuse(mistake);
      return acting(scope, ["add"], undefined, (owner) => guardFrames(hands, owner, { link, mac }));
    },
    framesGuarded: async (link, mac) => {
      if (!MAC.test(mac)) return refuse(misused(`${quote(mac, 60)} is no MAC address`));
      return acting(scope, ["add", "check"], undefined, (owner) => framesGuarded(hands, owner, { link, mac }));
    },
    remove: () =>
      acting(scope, ["add", "del"], undefined, async (owner) => {
        const all = [remove(hands, owner), unguardFrames(hands, owner), removeNative(hands, owner, scope.grant)];
        return (await Promise.all(all)).find((each) => !each.ok) ?? ok(undefined);
      }),
    retain: async (valid) => {
      if (scope.verb !== "gc") return refuse(misused(`retain is for GC only, this call is ${scope.verb.toUpperCase()}`));
      const retained = await retain(hands, scope, valid);
      const unguarded = await retainGuards(hands, scope, valid);
      if (!retained.ok) return answer(retained);
      return answer(unguarded.ok ? ok(new Set([...retained.value, ...unguarded.value]).size) : unguarded);
    },
    probe: async () => answer(await probe(hands)),
  };
}

async function acting<T>(
  scope: FirewallScope,
  verbs: readonly Verb[],
  asked: FirewallRules | undefined,
  act: (owner: Owner, rules: Rules) => Promise<Result<T>>,
): Promise<Outcome<T, WitFault>> {
  const { attachment, type, network, verb } = scope;
  if (attachment === undefined || !verbs.includes(verb))
    return refuse(misused(`rules are for ${verbs.join(" and ").toUpperCase()} only, this call is ${verb.toUpperCase()}`));
  const rules = asked === undefined ? ok({ masquerades: [], portMappings: [] }) : allowedRules(scope, asked);
  if (!rules.ok) return refuse(rules.fault);
  const { containerId, ifname } = attachment;
  return answer(await act({ type, network, containerId, ifname }, rules.value));
}

/** Why frames may not be guarded so: a delegate could cut others off otherwise. */
function guardMistake({ ends }: FirewallScope, link: string, mac: string): Fault | undefined {
  if (!MAC.test(mac)) return misused(`${quote(mac, 60)} is no MAC address`);
  const made = ends?.() ?? [];
  if (made.includes(link)) return undefined;
  return misused(`${quote(link, 60)} is no node's end of a veth that this call made: it made ${made.join(", ") || "none"}`);
}

/** The rules that were asked for, each of them well formed and granted. */
function allowedRules(scope: FirewallScope, { masquerades, portMappings }: FirewallRules): Result<Rules> {
  const known = new Set(
    scope
      .addresses()
      .flatMap((text) => addressIn(text) ?? [])
      .map(formatAddress),
  );
  const rules: { masquerades: { address: Cidr }[]; portMappings: PortMapping[] } = { masquerades: [], portMappings: [] };
  for (const { address } of masquerades) {
    const read = ownAddress(address, known);
    if (!read.ok) return read;
    if (scope.grant.masquerade !== true) {
      const asked = `masquerading of ${formatAddress(read.value.address)}`;
      return failed(denied(scope, { key: "firewall.masquerade", asked, granted: [] }));
    }
    rules.masquerades.push({ address: read.value });
  }
  for (const asked of portMappings) {
    const mapping = mappingOf(asked, known);
    if (!mapping.ok) return mapping;
    const granted = scope.grant.hostPorts ?? [];
    if (!granted.some((range) => isWithin(range, mapping.value.hostPort)))
      return failed(denied(scope, { key: "firewall.hostPorts", asked: portInWords(mapping.value), granted }));
    rules.portMappings.push(mapping.value);
  }
  return ok(rules);
}

function mappingOf(asked: FirewallPortMapping, known: ReadonlySet<string>): Result<PortMapping> {
  const { protocol, hostPort, podAddress, podPort, masquerading } = asked;
  const pod = ownAddress(podAddress, known);
  if (!pod.ok) return pod;
  if (hostPort === 0 || podPort === 0) return failed(misused("a port mapping has the port 0"));
  const hostAddress = asked.hostAddress === undefined ? undefined : readAddress(asked.hostAddress);
  if (asked.hostAddress !== undefined && hostAddress?.family !== pod.value.address.family)
    return failed(
      misused(`host address ${quote(asked.hostAddress, 60)} is no address of the family of ${quote(podAddress, 60)}`),
    );
  if (hostAddress?.value === 0n) return failed(misused("a host address of zeros: none stands for any address"));
  return ok({ protocol, hostAddress, hostPort, pod: pod.value, podPort, masquerading });
}

/** An address of the attachment: a delegate could steer others' connections otherwise. */
function ownAddress(text: string, known: ReadonlySet<string>): Result<Cidr> {
  const cidr = readCidr(text);
  if (cidr === undefined) return failed(misused(`${quote(text, 60)} is no address with a prefix length`));
  if (known.has(formatAddress(cidr.address))) return ok(cidr);
  const has = known.size === 0 ? "no address that is known" : [...known].join(", ");
  return failed(misused(`${formatAddress(cidr.address)} is not the attachment's: it has ${has}`));
}

function addressIn(text: string): IpAddress | undefined {
  return readCidr(text)?.address ?? readAddress(text);
}

/** Whether a port is in a range of the grant: `80`, `30000-32767`. */
function isWithin(range: string, port: number): boolean {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range);
  if (match === null) return false;
  return port >= Number(match[1]) && port <= Number(match[2] ?? match[1]);
}

function denied({ type }: FirewallScope, what: Omit<Denied, "type">): Fault {
  return notGranted({ type, ...what });
}

function misused(what: string): Fault {
  return fault("CAPABILITY_MISUSED", `firewall: ${what}`);
}

function answer<T>(result: Result<T>): Outcome<T, WitFault> {
  return result.ok ? { ok: result.value } : refuse(result.fault);
}

function refuse({ code, msg, details }: Fault): { readonly err: WitFault } {
  return { err: { code, msg, details } };
}
