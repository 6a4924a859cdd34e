// The leases of a test in memory: a vector's input has those before the call, its answer those after the call. The capability is the node's
// (host/capabilities/leases/capability.ts).

import { leasesOver, type LeaseCall, type LeaseOwner } from "../../../host/capabilities/leases/capability.ts";
import type { LeaseOperation } from "../../../host/capabilities/leases/effect.ts";
import { simulatedLeases } from "../../../host/capabilities/leases/simulated-leases.ts";
import type { LeasesCapability } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok } from "../../../src/fault/result.ts";
import { compareAddresses, readAddress, type IpAddress } from "../../../src/net/ip.ts";

/** The leases in a vector. */
export interface LeaseState {
  /** The only allowed `dataDir`; undefined allows the default directory only. */
  readonly directory?: string | undefined;
  /** The owner (`containerId ifname`) of each reserved address. */
  readonly held: Readonly<Record<string, string>>;
  /** The most recently reserved address by number of the range set. */
  readonly last: Readonly<Record<string, string>>;
}

/** The leases of one directory. */
export class MemoryLeases {
  readonly #directory: string | undefined;
  readonly #held: Map<string, string>;
  readonly #last: Map<string, string>;

  constructor(state: LeaseState = { held: {}, last: {} }) {
    this.#directory = state.directory;
    this.#held = new Map(Object.entries(state.held));
    this.#last = new Map(Object.entries(state.last));
  }

  /** The current leases, in order of addresses. */
  state(): LeaseState {
    const held = [...this.#held].toSorted(([a], [b]) => compareAddresses(sortKey(a), sortKey(b)));
    const last = [...this.#last].toSorted(([a], [b]) => Number(a) - Number(b));
    const state = { held: Object.fromEntries(held), last: Object.fromEntries(last) };
    return this.#directory === undefined ? state : { directory: this.#directory, ...state };
  }

  /** Releases each address that the predicate refuses. */
  keepOnly(keeps: (address: string) => boolean): void {
    for (const address of this.#held.keys()) if (!keeps(address)) this.#held.delete(address);
  }

  /** The capability in one call. */
  functions(call: LeaseCall): LeasesCapability {
    const leases = leasesOver(call, {
      open: (pool) =>
        pool.directory === this.#directory
          ? ok(pool)
          : failed(fault("DIRECTORY_NOT_ALLOWED", `dataDir: ${pool.directory} is not allowed`)),
      ...this.#operations,
    });
    return {
      reserve: (...args) => ended(leases.reserve(...args)),
      reserveNext: (...args) => ended(leases.reserveNext(...args)),
      held: (...args) => ended(leases.held(...args)),
      release: (...args) => ended(leases.release(...args)),
      retain: (...args) => ended(leases.retain(...args)),
      count: (...args) => ended(leases.count(...args)),
      probe: (...args) => ended(leases.probe(...args)),
    };
  }

  readonly #operations = simulatedLeases({
    reserved: () => this.#held.keys(),
    isReserved: (address) => this.#held.has(address),
    heldBy: (owner) => this.#ofOwner((who) => who === ownerKey(owner)).flatMap((text) => readAddress(text) ?? []),
    staleBeside: (valid) => {
      const kept = new Set(valid.map(ownerKey));
      return this.#ofOwner((who) => !kept.has(who));
    },
    last: (set) => readAddress(this.#last.get(String(set)) ?? ""),
    take: (set, address, owner) => {
      this.#held.set(address, ownerKey(owner));
      this.#last.set(String(set), address);
    },
    drop: (address) => void this.#held.delete(address),
  });

  #ofOwner(has: (owner: string) => boolean): readonly string[] {
    return [...this.#held].filter(([, owner]) => has(owner)).map(([address]) => address);
  }
}

/** The result of an operation that takes no lock. */
function ended<T>(operation: LeaseOperation<T>): T {
  const step = operation.next();
  if (step.done !== true) throw new Error("an operation on leases in memory asked for a lock");
  return step.value;
}

/** A sort key: texts that are not addresses come between the families. */
function sortKey(text: string): IpAddress {
  return readAddress(text) ?? { family: 6, value: -1n };
}

function ownerKey({ containerId, ifname }: LeaseOwner): string {
  return `${containerId} ${ifname}`;
}
