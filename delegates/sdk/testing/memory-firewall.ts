// The `firewall` capability in memory: a vector sets the rules before the call and shows those after it. kernel-agrees-firewall.test.ts
// compares it with the kernel.

import { isDeepStrictEqual } from "node:util";
import type { AttachmentFacts } from "../../../host/capabilities/call-facts.ts";
import type {
  AttachmentId,
  Fault,
  FirewallCapability,
  FirewallCondition,
  FirewallPortMapping,
  FirewallRules,
} from "../../../host/sandbox/abi/generated/delegate-1.0.0.ts";
import { type Cidr, formatAddress, formatCidr, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { DelegateCall } from "./records.ts";

/** Rules of an attachment, and the conditions of its port mappings. */
export interface RestrictedRules extends FirewallRules {
  readonly conditions?: readonly FirewallCondition[] | undefined;
}

/** A vector's state: rules by attachment (`containerId ifname`), and a fault that all functions answer. */
export interface FirewallState {
  readonly rules: Readonly<Record<string, RestrictedRules>>;
  /** The only allowed source MAC of each link of an attachment: `link MAC`. */
  readonly guards?: Readonly<Record<string, string>> | undefined;
  readonly fault?: Fault | undefined;
}

/** The rules of all attachments, for many calls. */
export class RuleTable {
  readonly rules: Map<string, RestrictedRules>;
  readonly guards: Map<string, string>;

  constructor({ rules, guards = {} }: FirewallState = { rules: {} }) {
    this.rules = new Map(Object.entries(rules));
    this.guards = new Map(Object.entries(guards));
  }
}

/** The call that uses the rules. */
export interface FirewallCall {
  readonly verb: DelegateCall["verb"];
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
  readonly facts: AttachmentFacts;
}

type Outcome<T> = { readonly ok: T } | { readonly err: Fault };

/** In the kernel's spelling. */
const macPattern = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

/** The rules of one call. */
export class MemoryFirewall {
  readonly #call: FirewallCall;
  readonly #owner: string;
  readonly #rules: Map<string, RestrictedRules>;
  readonly #guards: Map<string, string>;
  readonly #fault: Fault | undefined;

  /** `table`: the rules of earlier calls. */
  constructor(state: FirewallState = { rules: {} }, call: FirewallCall, table = new RuleTable(state)) {
    this.#call = call;
    this.#owner = call.attachment === undefined ? "" : ownerKey(call.attachment);
    this.#rules = table.rules;
    this.#guards = table.guards;
    this.#fault = state.fault;
  }

  /** The current rules. */
  rules(): Readonly<Record<string, RestrictedRules>> {
    return Object.fromEntries(this.#rules);
  }

  /** The current guards. */
  guards(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#guards);
  }

  readonly functions: FirewallCapability = {
    replace: (rules) => this.#act(["add"], () => this.#replace(rules)),
    check: (rules) => this.#act(["add", "check"], () => this.#check(rules)),
    replaceRestricted: (rules, conditions) => this.#act(["add"], () => this.#replace({ ...rules, conditions })),
    checkRestricted: (rules, conditions) => this.#act(["add", "check"], () => this.#check({ ...rules, conditions })),
    guardFrames: (link, mac) =>
      this.#act(["add"], () => {
        if (!macPattern.test(mac) || !this.#call.facts.hostVeths.includes(link))
          return misused(`${link} is not the node's end of a veth that this call made, or ${mac} is not a MAC address`);
        this.#guards.set(this.#owner, `${link} ${mac}`);
        return { ok: undefined };
      }),
    framesGuarded: (link, mac) =>
      this.#act(["add", "check"], () =>
        macPattern.test(mac)
          ? { ok: this.#guards.get(this.#owner) === `${link} ${mac}` }
          : misused(`${mac} is not a MAC address`),
      ),
    remove: () =>
      this.#act(["add", "del"], () => {
        this.#rules.delete(this.#owner);
        this.#guards.delete(this.#owner);
        return { ok: undefined };
      }),
    retain: (valid) =>
      this.#act(["gc"], () => {
        const keep = new Set(valid.map(ownerKey));
        const stale = new Set([...this.#rules.keys(), ...this.#guards.keys()].filter((owner) => !keep.has(owner)));
        for (const owner of stale) {
          this.#rules.delete(owner);
          this.#guards.delete(owner);
        }
        return { ok: stale.size };
      }),
    probe: () => this.#act(["add", "del", "check", "gc", "status"], () => ({ ok: undefined })),
  };

  #act<T>(verbs: readonly FirewallCall["verb"][], act: () => Outcome<T>): Outcome<T> {
    if (!verbs.includes(this.#call.verb)) return misused(`${this.#call.verb} may not do this; allowed: ${verbs.join(", ")}`);
    return this.#fault === undefined ? act() : { err: this.#fault };
  }

  #check(rules: RestrictedRules): Outcome<boolean> {
    const mistake = this.#mistakeIn(rules);
    return mistake ?? { ok: isDeepStrictEqual(inKernel(this.#rules.get(this.#owner)), inKernel(rules)) };
  }

  #replace({ conditions = [], ...rules }: RestrictedRules): Outcome<undefined> {
    const mistake = this.#mistakeIn({ ...rules, conditions });
    if (mistake !== undefined) return mistake;
    const wanted = rules.portMappings.map(portOf);
    for (const [owner, { portMappings }] of this.#rules) {
      // Attachments of one container may map one port.
      if (containerOf(owner) === containerOf(this.#owner)) continue;
      for (const taken of portMappings.map(portOf)) {
        if (!wanted.some((port) => collide(port, taken))) continue;
        return { err: { code: 11, msg: `host port ${taken.port} is already mapped to ${owner}` } };
      }
    }
    if (rules.masquerades.length + rules.portMappings.length === 0) this.#rules.delete(this.#owner);
    else this.#rules.set(this.#owner, conditions.length === 0 ? rules : { ...rules, conditions });
    return { ok: undefined };
  }

  /** The refusal of malformed rules, and of rules for addresses that are not the attachment's; undefined if there is none. */
  #mistakeIn({ masquerades, portMappings, conditions = [] }: RestrictedRules): { readonly err: Fault } | undefined {
    const known = new Set(
      this.#call.facts.addresses.flatMap((text) => readCidr(text)?.address ?? readAddress(text) ?? []).map(formatAddress),
    );
    const isOwn = (text: string): boolean => {
      const cidr = readCidr(text);
      return cidr !== undefined && known.has(formatAddress(cidr.address));
    };
    const restricted = new Set<string>();
    for (const { side, network } of conditions) {
      const cidr = readCidr(network);
      if (cidr === undefined) return misused(`${network} is not an IP address with a prefix length`);
      const place = `${side} of IPv${cidr.address.family}`;
      if (restricted.has(place)) return misused(`there are two conditions on the ${place}`);
      restricted.add(place);
    }
    for (const { address } of masquerades) if (!isOwn(address)) return misused(`${address} is not an address of the attachment`);
    for (const mapping of portMappings) {
      const { hostPort, podPort, podAddress } = mapping;
      if (!isOwn(podAddress)) return misused(`${podAddress} is not an address of the attachment`);
      if (hostPort === 0 || podPort === 0) return misused("a port mapping has port 0");
      if (!isHostAddress(mapping)) return misused(`the host address ${mapping.hostAddress} doesn't fit ${podAddress}`);
    }
    return undefined;
  }
}

/** Whether a mapping's address of the node, if it has one, is of the pod's family and not all zeros. */
function isHostAddress({ hostAddress, podAddress }: FirewallPortMapping): boolean {
  if (hostAddress === undefined) return true;
  const address = readAddress(hostAddress);
  return address !== undefined && address.value !== 0n && address.family === readCidr(podAddress)?.address.family;
}

interface HostPort {
  /** Family, protocol and number. */
  readonly port: string;
  /** Undefined: all addresses of the node. */
  readonly address: string | undefined;
}

function portOf({ protocol, hostPort, hostAddress, podAddress }: FirewallPortMapping): HostPort {
  const address = hostAddress === undefined ? undefined : readAddress(hostAddress);
  return {
    port: `${hostPort}/${protocol} of IPv${readCidr(podAddress)?.address.family ?? 4}`,
    address: address === undefined ? undefined : formatAddress(address),
  };
}

function collide(one: HostPort, other: HostPort): boolean {
  return one.port === other.port && (one.address === undefined || other.address === undefined || one.address === other.address);
}

/** The rules as the kernel holds them: by family, in order, with addresses in one spelling. Absent rules are none. */
function inKernel(
  { masquerades, portMappings, conditions = [] }: RestrictedRules = { masquerades: [], portMappings: [] },
): unknown {
  return ([4, 6] as const).map((family) => {
    const isOf = (text: string): Cidr | undefined => {
      const cidr = readCidr(text);
      return cidr?.address.family === family ? cidr : undefined;
    };
    return {
      masquerades: masquerades.flatMap(({ address }) => isOf(address) ?? []).map(formatCidr),
      portMappings: portMappings.flatMap((mapping) => {
        const pod = isOf(mapping.podAddress);
        const { protocol, hostPort, podPort, masquerading } = mapping;
        const restrictions = conditions.flatMap(({ side, negated, network }) => {
          const cidr = isOf(network);
          return cidr === undefined ? [] : [[side, negated, formatAddress(networkOf(cidr).first), cidr.prefix]];
        });
        return pod === undefined
          ? []
          : [[protocol, portOf(mapping).address, hostPort, formatCidr(pod), podPort, masquerading, restrictions]];
      }),
    };
  });
}

function ownerKey({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}

/** The container of an attachment's key. */
function containerOf(owner: string): string {
  return owner.slice(0, owner.lastIndexOf(" "));
}

function misused(msg: string): { readonly err: Fault } {
  return { err: { code: 999, msg } };
}
