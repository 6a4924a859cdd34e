// Makes a reservation in a pool that another pool's addresses cannot be in: the conditions are those of a block's claim.

import { type AddressPool, claimObstacle } from "../rules/address-pool.ts";
import type { AddressReservation, ReservationHolder } from "../rules/address-reservation.ts";
import { staticSpans } from "../rules/pool-usage.ts";
import { hasAddress } from "../rules/spans.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { NodeBlocks } from "./node-blocks.ts";
import type { Asker, Terms } from "./reservation-asker.ts";

/** Reserves a free address for the asker. False: the address is reserved already. Fault POOL_UNAVAILABLE. */
export async function makeReservation(
  blocks: NodeBlocks,
  { api, pool }: Terms,
  { owner, holder }: Asker,
  address: IpAddress,
): Promise<Result<boolean>> {
  const { name } = pool;
  // The obstacle may have gone since the pool was read.
  const known = claimObstacle(pool) === undefined ? ok(pool) : await blocks.readPool(name);
  if (!known.ok) return known;
  const obstacle = whyNotOf(known.value, pool, address);
  if (obstacle !== undefined) return unavailable(`no address of AddressPool ${name} is reserved, because the pool ${obstacle}`);
  const made = await api.create({ pool: name, address, owner }, holder);
  if (!made.ok || made.value === undefined) return made.ok ? ok(false) : made;
  // The pool's finalizer protects a reservation from the moment on at which the pool is not being deleted.
  const again = await blocks.readPoolAnew(name);
  const why = again.ok ? whyNotOf(again.value, pool, address) : `cannot be read: ${again.fault.msg}`;
  if (why === undefined) return ok(true);
  const removed = await keepHolders(api, made.value, []);
  // The rounds repeat it.
  if (!removed.ok) blocks.init.warn(`pools: ${removed.fault.msg}`);
  return unavailable(`${formatAddress(address)} of AddressPool ${name} was reserved and given back, because the pool ${why}`);
}

function unavailable(why: string): Result<never> {
  return failed(fault("POOL_UNAVAILABLE", why));
}

/** Leaves these holders of a reservation. That of a pod goes with its last holder; plexus-controller alone frees the others. */
export function keepHolders(
  api: Terms["api"],
  reservation: AddressReservation,
  kept: readonly ReservationHolder[],
): Promise<Result<void>> {
  const isOver = kept.length === 0 && reservation.owner.kind === "Pod";
  return isOver ? api.remove(reservation) : api.setHolders(reservation, kept);
}

/**
 * Why a pool does not give an address now, as the rest of a sentence that begins with the pool; undefined if it does. `chosen`: the pool as it was when
 * the address was chosen.
 */
function whyNotOf(now: AddressPool, chosen: AddressPool, address: IpAddress): string | undefined {
  if (now.uid !== chosen.uid) return "was replaced by another one";
  return claimObstacle(now) ?? (hasAddress(staticSpans(now), address) ? undefined : `excludes ${formatAddress(address)} now`);
}
