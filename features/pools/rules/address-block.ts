// AddressBlock: a part of a pool that one node hands out. Creating the object POOL-INDEX is the lock: the API server accepts one creation.

import { formatAddress } from "../../../src/net/ip.ts";
import { isPoolName } from "../../../src/configuration/pool-name.ts";
import { poolBounds, readFreeAfter } from "./address-pool.ts";
import { type ObjectMetadata, problem, readParts, type Reading } from "../../../src/kube/object-parts.ts";
import { poolApiVersion, readInteger, readIp, readText } from "./object-reading.ts";
import type { AddressSpan } from "./spans.ts";

/** The content of a block, which never changes. */
export interface BlockClaim {
  readonly pool: string;
  /** The block's number in its pool (pool-blocks.ts). */
  readonly index: number;
  readonly span: AddressSpan;
  /** The name of the Node object whose pods use the addresses. */
  readonly node: string;
  /** The random identity of the node's state directory. Another holder on the same node never uses the block. */
  readonly holder: string;
  /** How long the block stays marked before it is freed. Also bounds how long a daemon may trust its knowledge of the block. */
  readonly freeAfterSeconds: number;
}

/** An AddressBlock. */
export interface AddressBlock extends ObjectMetadata, BlockClaim {
  /** Whether the controller has marked the block because its node is gone. A marked block hands out nothing. */
  readonly isOrphaned: boolean;
}

/** Ranges of a pool × blocks of a range. */
export const maxBlockIndex = poolBounds.ranges * 2 ** 24 - 1;

/** The path of the collection. */
export const addressBlocksPath = `/apis/${poolApiVersion}/addressblocks`;

/** The name of a block's object. The last dash separates the number, so that two pools never share a name. */
export function blockName(pool: string, index: number): string {
  return `${pool}-${index}`;
}

/** The object to create for a claim. */
export function addressBlockObject(claim: BlockClaim): Readonly<Record<string, unknown>> {
  const { pool, index, span, node, holder, freeAfterSeconds } = claim;
  const [first, last] = [span.first, span.last].map((value) => formatAddress({ family: span.family, value }));
  return {
    apiVersion: poolApiVersion,
    kind: "AddressBlock",
    metadata: { name: blockName(pool, index) },
    spec: { pool, index, first, last, node, holder, freeAfterSeconds },
  };
}

/** Reads an AddressBlock. */
export function readAddressBlock(object: unknown): Reading<AddressBlock> {
  const parts = readParts(object);
  if (!parts.ok) return parts;
  const { metadata, spec, status } = parts.value;
  const pool = readText(spec["pool"], "spec.pool", poolBounds.nameLength);
  if (!pool.ok) return pool;
  if (!isPoolName(pool.value)) return problem("spec.pool is not a pool's name");
  const index = readInteger(spec["index"], "spec.index", 0, maxBlockIndex);
  if (!index.ok) return index;
  if (metadata.name !== blockName(pool.value, index.value))
    return problem(`metadata.name is not ${blockName(pool.value, index.value)}`);
  const first = readIp(spec["first"], "spec.first");
  if (!first.ok) return first;
  const last = readIp(spec["last"], "spec.last");
  if (!last.ok) return last;
  const { family, value } = first.value;
  if (family !== last.value.family || value > last.value.value)
    return problem("spec.first and spec.last are not a range of addresses");
  if (last.value.value - value >= BigInt(poolBounds.blockSize)) {
    return problem(`spec.first to spec.last are more than ${poolBounds.blockSize} addresses`);
  }
  const node = readText(spec["node"], "spec.node");
  if (!node.ok) return node;
  const holder = readText(spec["holder"], "spec.holder", 64);
  if (!holder.ok) return holder;
  const freeAfter = readFreeAfter(spec["freeAfterSeconds"]);
  if (!freeAfter.ok) return freeAfter;
  return {
    ok: true,
    value: {
      ...metadata,
      pool: pool.value,
      index: index.value,
      span: { family, first: value, last: last.value.value },
      node: node.value,
      holder: holder.value,
      freeAfterSeconds: freeAfter.value,
      isOrphaned: isMarked(status["orphanedSince"]),
    },
  };
}

/** Any value is a mark: a reader that does not understand the mark must not use the block. */
function isMarked(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The merge patch of the status that marks a block, at a time in RFC 3339; undefined removes the mark. */
export function orphanedPatch(since: string | undefined): Readonly<Record<string, unknown>> {
  return { status: { orphanedSince: since ?? null } };
}
