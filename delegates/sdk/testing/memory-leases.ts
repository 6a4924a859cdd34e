// The capability `leases` in memory, with the WIT's rules, for test vectors. A vector's input has the leases before the call, its answer those
// after the call.

import { compareAddresses, formatAddress, readAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { AttachmentIdRecord, CapabilityFunctions, FaultRecord, Outcome, PoolRecord, ReservationRecord } from "./records.ts";

/** The leases in a vector. */
export interface LeaseState {
  /** The only allowed `dataDir`; undefined allows the default directory only. */
  readonly directory?: string | undefined;
  /** The owner (`containerId ifname`) of each reserved address. */
  readonly held: Readonly<Record<string, string>>;
  /** The most recently reserved address by number of the range set. */
  readonly last: Readonly<Record<string, string>>;
}

/** CNI error 7: invalid network configuration. */
const invalid = (msg: string): { readonly err: FaultRecord } => ({ err: { code: 7, msg } });

/** A lease store for one call. */
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
    this.#drop([...this.#held.keys()].filter((address) => !keeps(address)));
  }

  readonly functions: CapabilityFunctions["leases"] = {
    reserve: (pool, address, owner) =>
      this.#inPool(pool, () => {
        const ip = readAddress(address);
        if (ip === undefined) return invalid(`${address} is no address`);
        return { ok: this.#take(pool, formatAddress(ip), owner) };
      }),
    reserveNext: (pool, ranges, skip, owner) =>
      this.#inPool<ReservationRecord | undefined>(pool, () => {
        const spans: { readonly from: IpAddress; readonly to: IpAddress }[] = [];
        for (const { first, last } of ranges) {
          const from = readAddress(first);
          const to = readAddress(last);
          if (from === undefined || to === undefined || from.family !== to.family || from.value > to.value) {
            return invalid(`${first} to ${last} is no range`);
          }
          spans.push({ from, to });
        }
        const heldAddress = this.#addressesOf(owner).find((address) => {
          const ip = readAddress(address);
          return (
            ip !== undefined && spans.some(({ from, to }) => compareAddresses(from, ip) <= 0 && compareAddresses(ip, to) <= 0)
          );
        });
        if (heldAddress !== undefined) return { ok: { address: heldAddress, heldBefore: true } };
        const before = readAddress(this.#last.get(String(pool.set)) ?? "");
        const inSpan = spans.findIndex(
          ({ from, to }) => before?.family === from.family && before.value >= from.value && before.value <= to.value,
        );
        const start = spans[inSpan];
        // From the last address to its range's end, then the other ranges in turn, then its own range's beginning.
        const order =
          start === undefined || before === undefined
            ? spans
            : [
                { from: { ...before, value: before.value + 1n }, to: start.to },
                ...spans.slice(inSpan + 1),
                ...spans.slice(0, inSpan),
                { from: start.from, to: before },
              ];
        for (const { from, to } of order) {
          for (let value = from.value; value <= to.value; value += 1n) {
            const text = formatAddress({ family: from.family, value });
            if (!skip.includes(text) && this.#take(pool, text, owner)) return { ok: { address: text, heldBefore: false } };
          }
        }
        return { ok: undefined };
      }),
    held: (pool, owner) => this.#inPool(pool, () => ({ ok: this.#addressesOf(owner) })),
    release: (pool, owner) => this.#inPool(pool, () => ({ ok: this.#drop(this.#addressesOf(owner)) })),
    retain: (pool, valid) =>
      this.#inPool(pool, () => {
        const keep = new Set(valid.map(ownerKey));
        return { ok: this.#drop([...this.#held].filter(([, who]) => !keep.has(who)).map(([address]) => address)) };
      }),
    count: (pool, ranges, limit) =>
      this.#inPool(pool, () => {
        const inside = [...this.#held.keys()].filter((address) =>
          ranges.some(({ first, last }) => {
            const [from, to, ip] = [readAddress(first), readAddress(last), readAddress(address)];
            if (from === undefined || to === undefined || ip === undefined) return false;
            return compareAddresses(from, ip) <= 0 && compareAddresses(ip, to) <= 0;
          }),
        );
        return { ok: Math.min(inside.length, limit) };
      }),
    probe: (pool) => this.#inPool(pool, () => ({ ok: undefined })),
  };

  /** Refuses a pool in a directory that is not allowed. */
  #inPool<T>(pool: PoolRecord, act: () => Outcome<T>): Outcome<T> {
    return pool.directory === this.#directory ? act() : invalid(`dataDir: ${pool.directory} is not allowed`);
  }

  #take(pool: PoolRecord, address: string, owner: AttachmentIdRecord): boolean {
    if (this.#held.has(address)) return false;
    this.#held.set(address, ownerKey(owner));
    this.#last.set(String(pool.set), address);
    return true;
  }

  #addressesOf(owner: AttachmentIdRecord): string[] {
    return [...this.#held].filter(([, who]) => who === ownerKey(owner)).map(([address]) => address);
  }

  #drop(addresses: readonly string[]): number {
    for (const address of addresses) this.#held.delete(address);
    return addresses.length;
  }
}

/** A sort key: texts that are not addresses come between the families. */
function sortKey(text: string): IpAddress {
  return readAddress(text) ?? { family: 6, value: -1n };
}

function ownerKey({ containerId, ifname }: AttachmentIdRecord): string {
  return `${containerId} ${ifname}`;
}
