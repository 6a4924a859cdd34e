// The ranges of a pool that may be used. The controller accepts the ranges of one pool after the other, so that no address is in two pools: admission
// alone cannot see two objects that are created at the same time.

import { formatCidr, networkOf } from "../../../src/net/ip.ts";
import type { PoolRange } from "./address-pool.ts";
import { intersection } from "./spans.ts";

/** The parts of a pool on which its acceptance depends. */
export interface PoolForAcceptance {
  readonly name: string;
  readonly uid: string;
  /** metadata.creationTimestamp: seconds in RFC 3339, which sort as text. */
  readonly created: string;
  readonly ranges: readonly PoolRange[];
  /** The number of ranges, from the first one on, that were accepted before. */
  readonly acceptedRanges: number;
}

/** The accepted ranges, and the reason why the next one is not. */
export interface Acceptance {
  /** The number of ranges, from the first one on, that are accepted now. A range that was accepted once stays so: nodes may use its addresses. */
  readonly acceptedRanges: number;
  /** A sentence about the first range that overlaps; undefined if all ranges are accepted and none overlaps. */
  readonly overlap: string | undefined;
}

/**
 * Accepts the pool's ranges in order, up to the first one that overlaps with an accepted range of another pool, or with any range of an older pool.
 * A range that is accepted already overlaps only with accepted ranges: an older pool that grows over it gets the condition itself.
 * `others`: all other pools, as the API's store has them.
 */
export function acceptRanges(pool: PoolForAcceptance, others: readonly PoolForAcceptance[]): Acceptance {
  const before = Math.min(pool.acceptedRanges, pool.ranges.length);
  const taken = others.flatMap((other) =>
    other.ranges.map((range, index) => {
      return { name: other.name, range, isAccepted: index < other.acceptedRanges, isOlder: isOlder(other, pool) };
    }),
  );
  for (const [index, range] of pool.ranges.entries()) {
    const rivals = taken.filter((each) => each.isAccepted || (each.isOlder && index >= before));
    const other = rivals.find((each) => overlaps(each.range, range));
    if (other === undefined) continue;
    const overlap = `spec.ranges[${index}].subnet ${formatCidr(range.subnet)} overlaps with ${formatCidr(other.range.subnet)} of AddressPool ${other.name}`;
    return { acceptedRanges: Math.max(before, index), overlap };
  }
  return { acceptedRanges: pool.ranges.length, overlap: undefined };
}

/** Whether the subnets have a common address. Pools that share a subnet would give one address range two gateways. */
function overlaps(one: PoolRange, other: PoolRange): boolean {
  const [a, b] = [one, other].map(({ subnet }) => {
    const { first, last } = networkOf(subnet);
    return { family: first.family, first: first.value, last: last.value };
  });
  return a !== undefined && b !== undefined && intersection(a, b) !== undefined;
}

/** Whether a pool was created earlier. In one second, the pool with the smaller uid counts as the older. */
function isOlder(one: PoolForAcceptance, other: PoolForAcceptance): boolean {
  return one.created === other.created ? one.uid < other.uid : one.created < other.created;
}
