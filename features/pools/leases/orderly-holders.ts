// Holders of this node that a list of reservations found in order. As long as their leases stay, no list has to be repeated: lists of all reservations by
// each node, each minute, would grow by nodes times reservations.

import type { PoolDirectory } from "./pool-directory.ts";

/** A holder's lease. */
export interface HeldLease {
  /** The address's canonical text. */
  readonly address: string;
  readonly containerId: string;
}

interface Look {
  readonly leases: readonly HeldLease[];
  readonly at: number;
}

/** Milliseconds after which a list is repeated in any case: an administrator may have changed a reservation. */
const maxAgeMs = 3_600_000;

/** The last looks, by pool. */
export class OrderlyHolders {
  readonly #directory: PoolDirectory;
  readonly #looks = new Map<string, Look>();

  constructor(directory: PoolDirectory) {
    this.#directory = directory;
  }

  /** Notes that these are all holders of this node in a pool, each with its lease. */
  note(pool: string, leases: readonly HeldLease[], now: number): void {
    this.#looks.set(pool, { leases, at: now });
  }

  /** Call before a holder of this node is written. */
  forget(pool: string): void {
    this.#looks.delete(pool);
  }

  /** Whether a list would find the same holders, each with the lease of before. */
  has(pool: string, now: number): boolean {
    const look = this.#looks.get(pool);
    if (look === undefined || now - look.at >= maxAgeMs) return false;
    return look.leases.every(({ address, containerId }) => {
      const lease = this.#directory.containerOf(pool, address);
      return lease.ok && lease.value === containerId;
    });
  }
}
