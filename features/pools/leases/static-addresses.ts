// Addresses that outlive pods, for the capability `leases`: what a call asks for, and what the daemon does about it.

import type { ReservationWish } from "../rules/reservation-wish.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { Family, IpAddress } from "../../../src/net/ip.ts";

/** The attachment of an ADD. */
export interface StaticRequest {
  readonly pool: string;
  readonly namespace: string;
  readonly pod: string;
  /** Undefined if the runtime sends none. */
  readonly podUid: string | undefined;
  readonly containerId: string;
  readonly ifname: string;
  /** The names by which a claim may call the attachment's network. */
  readonly networks: readonly string[];
  /** A mistake in the configuration is refused when an address is reserved. */
  readonly wish: Result<ReservationWish>;
}

/** The reservations of one node. Faults: POOL_UNAVAILABLE, POOL_FULL, CONFIG_INVALID. */
export interface StaticAddresses {
  /** Whether only reservations give the address to pods. */
  readonly isStatic: (pool: string, address: IpAddress) => boolean;
  /** Whether the pool's pods of VirtualMachineInstances get static addresses. */
  readonly keepsInstanceAddresses: (pool: string) => boolean;
  /**
   * The attachment's address of one family, by its claim, its StatefulSet or its VirtualMachineInstance; undefined if a block gives the address. The attachment holds the
   * reservation when the promise resolves.
   */
  readonly next: (request: StaticRequest, family: Family) => Promise<Result<IpAddress | undefined>>;
  /** Reserves a static address that the pod asks for. False: the address is another owner's. */
  readonly take: (request: StaticRequest, address: IpAddress) => Promise<Result<boolean>>;
  /** After a block gave an address: warns in the background if the pod's VirtualMachineInstance would lose it with a live migration. */
  readonly noteFromBlock: (request: StaticRequest, address: IpAddress) => void;
  /** After `next` or `take`: the lease is on the disk, or will not be. */
  readonly settled: (pool: string, address: IpAddress) => void;
}
