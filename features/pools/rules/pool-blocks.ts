// The numbers of a pool's blocks. Numbers run through the ranges in order, and depend on nothing that can change: ranges can only be appended.
// Gateways, exclusions and static addresses are left out inside a block and shift no number.

import type { Family, IpAddress } from "../../../src/net/ip.ts";
import type { AddressPool, PoolSpace, PoolRange } from "./address-pool.ts";
import { type AddressSpan, intersection, without } from "./spans.ts";

/** Blocks of one range. Addresses beyond are unused, which concerns IPv6 only: 2^24 blocks of 64 addresses are a /98. */
export const maxBlocksOfRange = 2 ** 24;

/** A block of a pool. */
export interface PoolBlock {
  readonly index: number;
  /** The block's addresses within its range. */
  readonly span: AddressSpan;
}

/** Consecutive numbers of blocks: those of one range. */
export interface BlockNumbers {
  readonly range: PoolRange;
  readonly first: number;
  readonly count: number;
}

/** The numbers of each range's blocks. */
export function blockNumbers({ ranges, blockSize }: PoolSpace): readonly BlockNumbers[] {
  let first = 0;
  return ranges.map((range) => {
    const size = BigInt(blockSize);
    const blocks = range.span.last / size - range.span.first / size + 1n;
    const count = blocks > BigInt(maxBlocksOfRange) ? maxBlocksOfRange : Number(blocks);
    const numbers = { range, first, count };
    first += count;
    return numbers;
  });
}

/** The block with a number; undefined if the pool has none. */
export function blockAt(pool: PoolSpace, index: number): PoolBlock | undefined {
  const numbers = blockNumbers(pool).find(({ first, count }) => index >= first && index < first + count);
  if (numbers === undefined) return undefined;
  const { range, first } = numbers;
  const size = BigInt(pool.blockSize);
  const start = (range.span.first / size + BigInt(index - first)) * size;
  const span = intersection(range.span, { family: range.span.family, first: start, last: start + size - 1n });
  return span && { index, span };
}

/** The number of the block with an address; undefined if no block has it. */
export function indexOf(pool: AddressPool, { family, value }: IpAddress): number | undefined {
  const size = BigInt(pool.blockSize);
  for (const { range, first, count } of blockNumbers(pool)) {
    const { span } = range;
    if (span.family !== family || value < span.first || value > span.last) continue;
    const offset = value / size - span.first / size;
    return offset < BigInt(count) ? first + Number(offset) : undefined;
  }
  return undefined;
}

/** The addresses that blocks never hand out: gateways, exclusions and static addresses. */
export function unassignable({ ranges, exclusions }: PoolSpace): readonly AddressSpan[] {
  const gateways = ranges.map(({ gateway: { family, value } }) => ({ family, first: value, last: value }));
  return [...exclusions, ...ranges.flatMap(({ statics }) => statics), ...gateways];
}

/** The addresses of a block that its node hands out. */
export function assignableSpans(pool: PoolSpace, span: AddressSpan): readonly AddressSpan[] {
  return without(span, unassignable(pool));
}

/** The addresses of the pool's blocks of one family, with those that are never handed out. */
export function poolSpans(pool: AddressPool, family: Family): readonly AddressSpan[] {
  return pool.ranges.flatMap(({ span }) => (span.family === family ? [span] : []));
}
