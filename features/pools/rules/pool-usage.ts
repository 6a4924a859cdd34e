// How much of a pool is used: blocks by state, and addresses by family.

import type { Family } from "../../../src/net/ip.ts";
import type { AddressBlock } from "./address-block.ts";
import type { PoolSpace } from "./address-pool.ts";
import type { AddressReservation } from "./address-reservation.ts";
import { assignableSpans, blockAt, maxBlocksOfRange, unassignable } from "./pool-blocks.ts";
import { type AddressSpan, intersections, sizeOf, without } from "./spans.ts";

/** The addresses of one family that blocks hand out. */
export interface FamilyUsage {
  readonly family: Family;
  /** All addresses of accepted ranges, without gateways, exclusions and static addresses. */
  readonly total: bigint;
  /** Addresses of claimed blocks, which their nodes hand out. */
  readonly inBlocks: bigint;
  /** Addresses that no block has yet. */
  readonly free: bigint;
}

/** The use of a pool. */
export interface PoolUsage {
  readonly families: readonly FamilyUsage[];
  readonly blocks: {
    readonly claimed: number;
    /** Claimed blocks whose node is gone. */
    readonly orphaned: number;
    /** Claimed blocks with other addresses than the pool gives them: no node uses such blocks. */
    readonly foreign: number;
  };
  readonly statics: { readonly total: bigint; readonly reserved: number };
}

/** The use of the ranges of `pool` (the accepted ones) by its blocks and reservations. */
export function usageOf(
  pool: PoolSpace,
  blocks: readonly Pick<AddressBlock, "index" | "span" | "isOrphaned">[],
  reservations: readonly Pick<AddressReservation, "address">[],
): PoolUsage {
  const inBlocks = new Map<Family, bigint>();
  let foreign = 0;
  for (const { index, span } of blocks) {
    if (!isBlockOf(pool, index, span)) foreign++;
    else inBlocks.set(span.family, (inBlocks.get(span.family) ?? 0n) + sizeOf(assignableSpans(pool, span)));
  }
  const holes = unassignable(pool);
  const totals = new Map<Family, bigint>();
  for (const { span } of pool.ranges) {
    const size = sizeOf(without(reachable(span, pool.blockSize), holes));
    totals.set(span.family, (totals.get(span.family) ?? 0n) + size);
  }
  const families = [...totals].map(([family, total]) => {
    const used = inBlocks.get(family) ?? 0n;
    return { family, total, inBlocks: used, free: total > used ? total - used : 0n };
  });
  const statics = staticSpans(pool).reduce((sum, span) => sum + sizeOf([span]), 0n);
  return {
    families: families.toSorted((a, b) => a.family - b.family),
    blocks: { claimed: blocks.length, orphaned: blocks.filter(({ isOrphaned }) => isOrphaned).length, foreign },
    statics: { total: statics, reserved: reservations.length },
  };
}

/** The static addresses that may be reserved: those between a range's ends without gateways and exclusions, each address once. */
export function staticSpans({ ranges, exclusions }: PoolSpace): readonly AddressSpan[] {
  const gateways = ranges.map(({ gateway: { family, value } }) => ({ family, first: value, last: value }));
  const spans: AddressSpan[] = [];
  for (const each of ranges.flatMap(({ span, statics }) => intersections(statics, [span]))) {
    // Entries of `static` may overlap each other.
    spans.push(...without(each, [...exclusions, ...gateways, ...spans]));
  }
  return spans;
}

/** Whether the block's addresses are those that the pool gives its number. */
export function isBlockOf(pool: PoolSpace, index: number, span: AddressSpan): boolean {
  const block = blockAt(pool, index)?.span;
  return block !== undefined && block.family === span.family && block.first === span.first && block.last === span.last;
}

/** The addresses of a range that blocks reach. */
function reachable(span: AddressSpan, blockSize: number): AddressSpan {
  const size = BigInt(blockSize);
  const end = (span.first / size + BigInt(maxBlocksOfRange)) * size - 1n;
  return end < span.last ? { ...span, last: end } : span;
}
