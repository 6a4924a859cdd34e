// The free addresses of a pool as its status counts them. plexus-controller counts the blocks of all nodes, so a node need not list them: lists of all blocks by all
// nodes grow with the square of the cluster.

import { isJsonObject } from "../../../src/json/document.ts";
import type { Family } from "../../../src/net/ip.ts";

/** The addresses of one family, as the controller last counted them. */
export interface FreeCount {
  readonly family: Family;
  /** All addresses that blocks may hand out. */
  readonly total: bigint;
  /** The addresses that no block has. */
  readonly free: bigint;
}

/** `unknown`: the pool has no status yet, or the free addresses are so near the bound that claims since the last count may decide. */
export type FreeAddresses = "none" | "plenty" | "unknown";

/** Blocks that nodes may claim or give back between two counts of the controller. */
const uncountedBlocks = 32n;
/** Digits of an IPv6 range's addresses. */
const maxDigits = 39;

/** Reads `status.addresses` of a pool. Entries that cannot be read are left out. */
export function readFreeCounts(value: unknown): readonly FreeCount[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown): FreeCount[] => {
    if (!isJsonObject(each)) return [];
    const family = each["family"] === "IPv4" ? 4 : each["family"] === "IPv6" ? 6 : undefined;
    const [total, free] = [each["total"], each["free"]].map(readCount);
    return family === undefined || total === undefined || free === undefined ? [] : [{ family, total, free }];
  });
}

/** Whether more than `percent` of a family's addresses are free. `none`: not more; with 0 %, no address is free. */
export function freeAddressesOf(
  { freeCounts, blockSize }: { readonly freeCounts: readonly FreeCount[]; readonly blockSize: number },
  family: Family,
  percent = 0,
): FreeAddresses {
  const counted = freeCounts.find((each) => each.family === family);
  if (counted === undefined) return "unknown";
  const bound = (counted.total * BigInt(percent)) / 100n;
  const uncounted = uncountedBlocks * BigInt(blockSize);
  if (counted.free > bound + uncounted) return "plenty";
  return counted.free === 0n || counted.free + uncounted < bound ? "none" : "unknown";
}

function readCount(value: unknown): bigint | undefined {
  return typeof value === "string" && value.length <= maxDigits && /^\d+$/u.test(value) ? BigInt(value) : undefined;
}
