// The `firewall` capability in memory: a vector sets the rules before the call and shows those after it.

import { isDeepStrictEqual } from "node:util";
import type {
  AttachmentId,
  Fault,
  FirewallCapability,
  FirewallRules,
} from "../../../host/sandbox/abi/generated/delegate-1.0.0.ts";

/** A vector's state: rules by attachment (`containerId ifname`), and a fault that all functions answer. */
export interface FirewallState {
  readonly rules: Readonly<Record<string, FirewallRules>>;
  /** The only allowed source MAC of each link of an attachment: `link MAC`. */
  readonly guards?: Readonly<Record<string, string>> | undefined;
  readonly fault?: Fault | undefined;
}

/** The rules of all attachments, for many calls. */
export class RuleTable {
  readonly rules: Map<string, FirewallRules>;
  readonly guards: Map<string, string>;

  constructor({ rules, guards = {} }: FirewallState = { rules: {} }) {
    this.rules = new Map(Object.entries(rules));
    this.guards = new Map(Object.entries(guards));
  }
}

/** The rules of one call. */
export class MemoryFirewall {
  readonly #owner: string;
  readonly #rules: Map<string, FirewallRules>;
  readonly #guards: Map<string, string>;
  readonly #fault: Fault | undefined;

  /** `owner`: the call's attachment; undefined for GC and STATUS. `table`: the rules of earlier calls. */
  constructor(state: FirewallState = { rules: {} }, owner?: AttachmentId, table = new RuleTable(state)) {
    this.#owner = owner === undefined ? "" : ownerKey(owner);
    this.#rules = table.rules;
    this.#guards = table.guards;
    this.#fault = state.fault;
  }

  /** The current rules. */
  rules(): Readonly<Record<string, FirewallRules>> {
    return Object.fromEntries(this.#rules);
  }

  /** The current guards. */
  guards(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#guards);
  }

  readonly functions: FirewallCapability = {
    replace: (rules) => this.#unlessFault(() => void this.#rules.set(this.#owner, rules)),
    check: (rules) => this.#unlessFault(() => isDeepStrictEqual(plain(this.#rules.get(this.#owner)), plain(rules))),
    guardFrames: (link, mac) => this.#unlessFault(() => void this.#guards.set(this.#owner, `${link} ${mac}`)),
    framesGuarded: (link, mac) => this.#unlessFault(() => this.#guards.get(this.#owner) === `${link} ${mac}`),
    remove: () =>
      this.#unlessFault(() => {
        this.#rules.delete(this.#owner);
        this.#guards.delete(this.#owner);
        return undefined;
      }),
    retain: (valid) =>
      this.#unlessFault(() => {
        const keep = new Set(valid.map(ownerKey));
        const stale = new Set([...this.#rules.keys(), ...this.#guards.keys()].filter((owner) => !keep.has(owner)));
        for (const owner of stale) {
          this.#rules.delete(owner);
          this.#guards.delete(owner);
        }
        return stale.size;
      }),
    probe: () => this.#unlessFault(() => undefined),
  };

  #unlessFault<T>(act: () => T): { readonly ok: T } | { readonly err: Fault } {
    return this.#fault === undefined ? { ok: act() } : { err: this.#fault };
  }
}

function ownerKey({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}

/** The rules without undefined members: hosts differ between undefined and absent. */
function plain(rules: FirewallRules | undefined): unknown {
  return rules === undefined ? undefined : JSON.parse(JSON.stringify(rules));
}
