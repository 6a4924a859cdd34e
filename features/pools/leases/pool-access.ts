// The interface by which the capability `leases` uses the cluster's pools. The daemon implements all of it (node-pools.ts); a one-shot engine only
// releases (one-shot-pools.ts).

import type { PoolUser } from "../rules/pool-configuration.ts";
import type { AddressSpan } from "../rules/spans.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { IpAddress } from "../../../src/net/ip.ts";
import type { StaticAddresses } from "./static-addresses.ts";

/** One pool, as seen by one node. Fault of all promises: POOL_UNAVAILABLE. */
export interface PoolAccess {
  /**
   * Succeeds if the node knows its blocks: at once, unless the daemon was started or paused. Otherwise the blocks are read again from
   * the API.
   */
  readonly ready: () => Promise<Result<void>>;
  /** The addresses of the blocks that the node may use now, leased addresses included. */
  readonly usable: () => readonly AddressSpan[];
  /** Whether the node may still hand out an address. Called after the lease was written: a block may have been given back meanwhile. */
  readonly isUsable: (address: IpAddress) => boolean;
  /** Claims a further block with addresses of `spans`. Faults: POOL_FULL, CONFIG_INVALID if the pool has no such addresses. */
  readonly claim: (spans: readonly AddressSpan[]) => Promise<Result<void>>;
  /** Claims the block that contains an address. False: another node has the block, or the address is not assignable. */
  readonly claimWith: (address: IpAddress) => Promise<Result<boolean>>;
  /** Whether a further block with addresses of `spans` could be claimed. */
  readonly canClaim: (spans: readonly AddressSpan[]) => Promise<Result<boolean>>;
  /** Notes that an address was reserved, so that the next block is claimed ahead in the background. */
  readonly noteReserved: () => void;
}

/** The pools of one call's cluster, as the capability `leases` on them sees them. */
export interface Pools {
  /** The absolute path of the directory with a directory for each pool's leases. */
  readonly root: string;
  /** Opens a pool. Fault POOL_UNAVAILABLE: this engine has no access to pools, and the reason. */
  readonly open: (name: string) => Promise<Result<PoolAccess>>;
  /** Addresses that outlive pods; undefined: this engine hands out no such address. */
  readonly statics: () => StaticAddresses | undefined;
  /** Call after leases of a pool were released. */
  readonly noteReleased: (name: string) => void;
  /** The text of a plugin's configuration completed by the pool that it names: an IPAM plugin's by ranges, a main plugin's by conflictDetection. Fault POOL_UNAVAILABLE. */
  readonly complete: (name: string, configuration: string, user: PoolUser) => Promise<Result<string>>;
}
