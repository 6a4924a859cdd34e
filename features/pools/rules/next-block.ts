// The order in which a node tries a pool's blocks. A node begins at the hash of its name, so that nodes seldom try the same block: 32 nodes need 32
// requests. If all began at the first block, they would need 528.

import type { Family } from "../../../src/net/ip.ts";
import type { AddressPool } from "./address-pool.ts";
import {
  assignableSpans,
  blockAt,
  blockNumbers,
  type BlockNumbers,
  indexOf,
  type PoolBlock,
  poolSpans,
  unassignable,
} from "./pool-blocks.ts";
import { type AddressSpan, intersection } from "./spans.ts";

/** The number, from 0, of the block at which a node begins among `count` blocks of a pool. */
export function startOf(pool: string, node: string, count: number): number {
  // FNV-1a with 32 bits. Names of nodes differ in few characters at their end, so the hash is mixed once more (murmur3's finalizer).
  let hash = 0x81_1c_9d_c5;
  for (const character of `${pool}/${node}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  return ((hash ^ (hash >>> 16)) >>> 0) % count;
}

/**
 * The blocks that the node may try, in its order: once around from `startOf`. Each block has assignable addresses, addresses of `spans`, and is not
 * `taken`. A generator, because a pool of IPv6 has millions of blocks.
 */
export function* candidates(
  pool: AddressPool,
  family: Family,
  node: string,
  taken: ReadonlySet<number>,
  spans: readonly AddressSpan[] = poolSpans(pool, family),
): Generator<PoolBlock, undefined> {
  const runs = runsWithin(pool, family, spans);
  const total = runs.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return;
  const holes = unassignable(pool);
  const start = startOf(pool.name, node, total);
  for (let step = 0; step < total;) {
    const { index, left } = placeIn(runs, (start + step) % total);
    const block = blockAt(pool, index);
    if (block === undefined) return;
    const hole = holes.find((each) => covers(each, block.span));
    if (hole === undefined) {
      step++;
      if (!taken.has(block.index) && assignableSpans(pool, block.span).length > 0) yield block;
    } else {
      step += Math.min(blocksWithin(pool, block, hole), left);
    }
  }
}

/** Consecutive numbers of blocks. */
type Run = Pick<BlockNumbers, "first" | "count">;

/** The blocks with addresses of the spans, in ascending runs that do not overlap. */
function runsWithin(pool: AddressPool, family: Family, spans: readonly AddressSpan[]): readonly Run[] {
  const size = BigInt(pool.blockSize);
  const found = blockNumbers(pool).flatMap(({ range: { span }, first, count }) =>
    spans.flatMap((each): Run[] => {
      const inRange = span.family === family ? intersection(span, each) : undefined;
      if (inRange === undefined) return [];
      const [from, to] = [inRange.first, inRange.last].map((value) => value / size - span.first / size);
      if (from === undefined || to === undefined || from >= BigInt(count)) return [];
      const end = to < BigInt(count) ? Number(to) + 1 : count;
      return [{ first: first + Number(from), count: end - Number(from) }];
    }),
  );
  const runs: Run[] = [];
  for (const run of found.toSorted((one, other) => one.first - other.first)) {
    const last = runs.at(-1);
    const end = last === undefined ? -1 : last.first + last.count;
    // Runs of two ranges that follow each other stay apart, as the numbers of a range do.
    if (last === undefined || run.first >= end) runs.push(run);
    else runs[runs.length - 1] = { first: last.first, count: Math.max(end, run.first + run.count) - last.first };
  }
  return runs;
}

/** The number of the block at position `place` within all runs, and how many blocks its run has from there on. */
function placeIn(runs: readonly Run[], place: number): { readonly index: number; readonly left: number } {
  let before = 0;
  for (const { first, count } of runs) {
    if (place < before + count) return { index: first + place - before, left: before + count - place };
    before += count;
  }
  return { index: -1, left: 1 };
}

/** The number of blocks, from `block` on, that the excluded span `hole` covers. The generator skips them at once. */
function blocksWithin(pool: AddressPool, block: PoolBlock, hole: AddressSpan): number {
  const numbers = blockNumbers(pool).find(({ first, count }) => block.index >= first && block.index < first + count);
  if (numbers === undefined) return 1;
  const { range, first, count } = numbers;
  const inRange = intersection(range.span, hole);
  if (inRange === undefined) return 1;
  const end = inRange.last === range.span.last ? undefined : indexOf(pool, { family: hole.family, value: inRange.last + 1n });
  return Math.max(1, (end ?? first + count) - block.index);
}

function covers(hole: AddressSpan, span: AddressSpan): boolean {
  return hole.family === span.family && hole.first <= span.first && hole.last >= span.last;
}
