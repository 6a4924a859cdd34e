// The `firewall` capability in memory: vectors say which rules are in force before, and see those that are after.

import { isDeepStrictEqual } from "node:util";
import type {
  AttachmentId,
  Fault,
  FirewallCapability,
  FirewallRules,
} from "../../../host/sandbox/abi/generated/delegate-0.1.0.ts";

/** What vectors show: rules by attachment (`containerId ifname`), and the fault that all functions answer. */
export interface FirewallState {
  readonly rules: Readonly<Record<string, FirewallRules>>;
  /** The only source of frames by a link of an attachment: `link MAC`. */
  readonly guards?: Readonly<Record<string, string>> | undefined;
  readonly fault?: Fault | undefined;
}

/** The rules of one call. */
export class MemoryFirewall {
  readonly #owner: string;
  readonly #rules: Map<string, FirewallRules>;
  readonly #guards: Map<string, string>;
  readonly #fault: Fault | undefined;

  /** `owner`: the call's attachment; none for GC and STATUS. */
  constructor(state: FirewallState = { rules: {} }, owner?: AttachmentId) {
    this.#owner = owner === undefined ? "" : holder(owner);
    this.#rules = new Map(Object.entries(state.rules));
    this.#guards = new Map(Object.entries(state.guards ?? {}));
    this.#fault = state.fault;
  }

  /** What is in force now. */
  rules(): Readonly<Record<string, FirewallRules>> {
    return Object.fromEntries(this.#rules);
  }

  /** Whose frames are guarded now. */
  guards(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#guards);
  }

  readonly functions: FirewallCapability = {
    replace: (rules) => this.#unless(() => void this.#rules.set(this.#owner, rules)),
    check: (rules) => this.#unless(() => isDeepStrictEqual(plain(this.#rules.get(this.#owner)), plain(rules))),
    guardFrames: (link, mac) => this.#unless(() => void this.#guards.set(this.#owner, `${link} ${mac}`)),
    framesGuarded: (link, mac) => this.#unless(() => this.#guards.get(this.#owner) === `${link} ${mac}`),
    remove: () =>
      this.#unless(() => {
        this.#rules.delete(this.#owner);
        this.#guards.delete(this.#owner);
        return undefined;
      }),
    retain: (valid) =>
      this.#unless(() => {
        const keep = new Set(valid.map(holder));
        const stale = new Set([...this.#rules.keys(), ...this.#guards.keys()].filter((owner) => !keep.has(owner)));
        for (const owner of stale) {
          this.#rules.delete(owner);
          this.#guards.delete(owner);
        }
        return stale.size;
      }),
    probe: () => this.#unless(() => undefined),
  };

  #unless<T>(act: () => T): { readonly ok: T } | { readonly err: Fault } {
    return this.#fault === undefined ? { ok: act() } : { err: this.#fault };
  }
}

function holder({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}

/** Without what is undefined: hosts differ in whether they show it. */
function plain(rules: FirewallRules | undefined): unknown {
  return rules === undefined ? undefined : JSON.parse(JSON.stringify(rules));
}
