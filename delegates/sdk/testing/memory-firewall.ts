// The `firewall` capability in memory: a vector sets the rules before the call and shows those after it. kernel-agrees-firewall.long.test.ts
// compares it with the kernel.

import { isDeepStrictEqual } from "node:util";
import {
  allowedRules,
  attachmentIn,
  type FirewallCall,
  guardMistake,
  macMistake,
  type RequestedRules,
  retainDenial,
} from "../../../host/capabilities/firewall/requests.ts";
import { refuse, type WitOutcome } from "../../../host/capabilities/outcome.ts";
import type {
  AttachmentId,
  Fault,
  FirewallCapability,
  FirewallCondition,
  FirewallRules,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { type Cidr, formatAddress, formatCidr, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";

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
export type MemoryFirewallCall = Pick<FirewallCall, "verb" | "attachment" | "facts">;

/** A test's node grants each address and each port. */
const fullGrant: FirewallCall["grant"] = { masquerade: true, hostPorts: ["1-65535"] };

/** The rules of one call. */
export class MemoryFirewall {
  readonly #call: FirewallCall;
  readonly #owner: string;
  readonly #rules: Map<string, RestrictedRules>;
  readonly #guards: Map<string, string>;
  readonly #fault: Fault | undefined;

  /** `table`: the rules of earlier calls. */
  constructor(state: FirewallState = { rules: {} }, call: MemoryFirewallCall, table = new RuleTable(state)) {
    this.#call = { type: "", grant: fullGrant, ...call };
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
    replace: (rules) => this.#ofAttachment(["add"], { rules }, () => this.#replace(rules)),
    check: (rules) => this.#ofAttachment(["add", "check"], { rules }, () => this.#check(rules)),
    replaceRestricted: (rules, conditions) =>
      this.#ofAttachment(["add"], { rules, conditions }, () => this.#replace({ ...rules, conditions })),
    checkRestricted: (rules, conditions) =>
      this.#ofAttachment(["add", "check"], { rules, conditions }, () => this.#check({ ...rules, conditions })),
    guardFrames: (link, mac) => {
      const mistake = guardMistake(this.#call, link, mac);
      if (mistake !== undefined) return refuse(mistake);
      return this.#ofAttachment(["add"], undefined, () => {
        this.#guards.set(this.#owner, `${link} ${mac}`);
        return { ok: undefined };
      });
    },
    framesGuarded: (link, mac) => {
      const mistake = macMistake(mac);
      if (mistake !== undefined) return refuse(mistake);
      const isGuarded = (): WitOutcome<boolean> => ({ ok: this.#guards.get(this.#owner) === `${link} ${mac}` });
      return this.#ofAttachment(["add", "check"], undefined, isGuarded);
    },
    remove: () =>
      this.#ofAttachment(["add", "del"], undefined, () => {
        this.#rules.delete(this.#owner);
        this.#guards.delete(this.#owner);
        return { ok: undefined };
      }),
    retain: (valid) => {
      const denied = retainDenial(this.#call);
      if (denied !== undefined) return refuse(denied);
      return this.#unlessFailing(() => {
        const keep = new Set(valid.map(ownerKey));
        const stale = new Set([...this.#rules.keys(), ...this.#guards.keys()].filter((owner) => !keep.has(owner)));
        for (const owner of stale) {
          this.#rules.delete(owner);
          this.#guards.delete(owner);
        }
        return { ok: stale.size };
      });
    },
    probe: () => this.#unlessFailing(() => ({ ok: undefined })),
  };

  /** Runs a request for the call's attachment if its verb and its rules are allowed, as on a node. */
  #ofAttachment<T>(
    verbs: readonly FirewallCall["verb"][],
    requested: RequestedRules | undefined,
    act: () => WitOutcome<T>,
  ): WitOutcome<T> {
    const attachment = attachmentIn(this.#call, verbs);
    if (!attachment.ok) return refuse(attachment.fault);
    const rules = requested === undefined ? undefined : allowedRules(this.#call, requested);
    return rules?.ok === false ? refuse(rules.fault) : this.#unlessFailing(act);
  }

  #unlessFailing<T>(act: () => WitOutcome<T>): WitOutcome<T> {
    return this.#fault === undefined ? act() : { err: this.#fault };
  }

  #check(rules: RestrictedRules): WitOutcome<boolean> {
    return { ok: isDeepStrictEqual(inKernel(this.#rules.get(this.#owner)), inKernel(rules)) };
  }

  #replace({ conditions = [], ...rules }: RestrictedRules): WitOutcome<undefined> {
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
}

interface HostPort {
  /** Family, protocol and number. */
  readonly port: string;
  /** Undefined: all addresses of the node. */
  readonly address: string | undefined;
}

function portOf({ protocol, hostPort, hostAddress, podAddress }: FirewallRules["portMappings"][number]): HostPort {
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
