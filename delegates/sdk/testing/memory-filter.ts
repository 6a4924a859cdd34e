// The `filter` capability in memory: a vector sets the acceptances before the call and shows those after it. kernel-agrees-filter.test.ts compares it with
// the kernel.

import {
  allowedAcceptance,
  attachmentIn,
  type FilterCall,
  type Acceptance,
  retainDenial,
} from "../../../host/capabilities/filter/requests.ts";
import { refuse, type WitOutcome } from "../../../host/capabilities/outcome.ts";
import type {
  AttachmentId,
  Fault,
  FilterAcceptance,
  FilterCapability,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { formatAddress } from "../../../src/net/ip.ts";

/** A vector's state. */
export interface FilterState {
  /** The accepted addresses of attachments (`containerId ifname`). */
  readonly accepted?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The policies of bridges, which stay when their attachments end. */
  readonly bridges?: Readonly<Record<string, "same-bridge" | "isolated">> | undefined;
  /** The chains for rules of administrators. */
  readonly adminChains?: readonly string[] | undefined;
  /** The fault of every function. */
  readonly fault?: Fault | undefined;
}

/** The rules of all attachments, for many calls. */
export class FilterTable {
  readonly accepted: Map<string, readonly string[]>;
  /** Each policy of a bridge: `br0 isolated`. */
  readonly bridges: Set<string>;
  readonly adminChains: Set<string>;

  constructor({ accepted = {}, bridges = {}, adminChains = [] }: FilterState = {}) {
    this.accepted = new Map(Object.entries(accepted));
    this.bridges = new Set(Object.entries(bridges).map(([bridge, policy]) => `${bridge} ${policy}`));
    this.adminChains = new Set(adminChains);
  }
}

/** A test's node grants each bridge, chain and zone. Its firewalld does not run. */
const fullGrant: FilterCall["grant"] = { bridges: ["*"], adminChains: ["*"], zones: ["*"] };

/** The acceptances of one call. */
export class MemoryFilter {
  readonly #call: FilterCall;
  readonly #fault: Fault | undefined;
  readonly #table: FilterTable;

  constructor(
    state: FilterState = {},
    call: Pick<FilterCall, "verb" | "attachment" | "facts">,
    table: FilterTable = new FilterTable(state),
  ) {
    this.#call = { type: "", grant: fullGrant, ...call };
    this.#fault = state.fault;
    this.#table = table;
  }

  /** The rules now, in the form of a vector's answer. */
  state(): Required<Omit<FilterState, "fault">> {
    const { accepted, bridges, adminChains } = this.#table;
    const policies = [...bridges].map((each) => each.split(" "));
    return {
      accepted: Object.fromEntries(accepted),
      // A bridge with both policies has `isolated`, which drops more.
      bridges: Object.fromEntries(
        policies.map(([name = ""]) => [name, bridges.has(`${name} isolated`) ? "isolated" : "same-bridge"]),
      ),
      adminChains: [...adminChains],
    };
  }

  readonly functions: FilterCapability = {
    replace: (requested) =>
      this.#ofAcceptance(["ADD"], requested, ({ addresses, adminChain, separation }, owner) => {
        if (addresses.length === 0) {
          this.#table.accepted.delete(keyOf(owner));
          return { ok: undefined };
        }
        this.#table.accepted.set(keyOf(owner), addresses.map(formatAddress));
        this.#table.adminChains.add(adminChain);
        if (separation !== undefined) this.#table.bridges.add(`${separation.bridge} ${separation.policy}`);
        return { ok: undefined };
      }),
    difference: (requested) =>
      this.#ofAcceptance(["ADD", "CHECK"], requested, (acceptance, owner) => ({ ok: this.#difference(acceptance, owner) })),
    remove: () =>
      this.#onAttachment(["ADD", "DEL"], (owner) => {
        this.#table.accepted.delete(keyOf(owner));
        return { ok: undefined };
      }),
    retain: (valid) => {
      const denied = retainDenial(this.#call);
      if (denied !== undefined) return refuse(denied);
      if (this.#fault !== undefined) return { err: this.#fault };
      const kept = new Set(valid.map(keyOf));
      const stale = [...this.#table.accepted.keys()].filter((owner) => !kept.has(owner));
      for (const owner of stale) this.#table.accepted.delete(owner);
      return { ok: stale.length };
    },
    probe: () => (this.#fault === undefined ? { ok: undefined } : { err: this.#fault }),
  };

  /** In the node's words: the first rule that is missing. */
  #difference({ addresses, adminChain, separation }: Acceptance, owner: AttachmentId): string | undefined {
    const { accepted, bridges, adminChains } = this.#table;
    const present = accepted.get(keyOf(owner)) ?? [];
    for (const family of [4, 6] as const) {
      const wanted = addresses.filter((address) => address.family === family).map(formatAddress);
      const missing = (chain: string): string =>
        `a rule of the chain ${chain} of the table ip${family === 4 ? "" : "6"} filter is missing`;
      if (wanted.length === 0) continue;
      // One table in memory: its shared rules are those of both families.
      if (accepted.size === 0 && adminChains.size === 0) return missing("FORWARD");
      if (!adminChains.has(adminChain)) return missing("CNI-FORWARD");
      if (separation !== undefined && !bridges.has(`${separation.bridge} ${separation.policy}`))
        return missing(bridges.size === 0 ? "FORWARD" : "CNI-ISOLATION-STAGE-1");
      if (wanted.some((address) => !present.includes(address))) return missing("CNI-FORWARD");
    }
    return undefined;
  }

  #onAttachment<T>(verbs: readonly FilterCall["verb"][], act: (owner: AttachmentId) => WitOutcome<T>): WitOutcome<T> {
    const attachment = attachmentIn(this.#call, verbs);
    if (!attachment.ok) return refuse(attachment.fault);
    return this.#fault === undefined ? act(attachment.value) : { err: this.#fault };
  }

  #ofAcceptance<T>(
    verbs: readonly FilterCall["verb"][],
    requested: FilterAcceptance,
    act: (acceptance: Acceptance, owner: AttachmentId) => WitOutcome<T>,
  ): WitOutcome<T> {
    return this.#onAttachment(verbs, (owner) => {
      const acceptance = allowedAcceptance(this.#call, requested);
      return acceptance.ok ? act(acceptance.value, owner) : refuse(acceptance.fault);
    });
  }
}

function keyOf({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}
