// The status that the controller writes into an AddressPool.

import { type Condition, judgedCondition, type Judgement } from "../../../src/kube/conditions.ts";
import type { Acceptance } from "./pool-acceptance.ts";
import type { PoolUsage } from "./pool-usage.ts";

/** The facts by which the status is made. */
export interface PoolStatusInput {
  readonly generation: number;
  /** The stored conditions. */
  readonly conditions: readonly Condition[];
  /** Why the specification cannot be read, as the rest of a sentence that begins with the pool; undefined if it can. */
  readonly problem: string | undefined;
  readonly isDeleted: boolean;
  readonly acceptance: Acceptance;
  readonly usage: PoolUsage;
  /** RFC 3339. */
  readonly now: string;
}

/** The status, as the CustomResourceDefinition has it. */
export interface PoolStatus {
  readonly acceptedRanges: number;
  readonly conditions: readonly Condition[];
  readonly blocks: { readonly claimed: number; readonly orphaned: number; readonly foreign: number };
  /** Texts, because an IPv6 range has more addresses than a number can hold. */
  readonly addresses: readonly {
    readonly family: string;
    readonly total: string;
    readonly inBlocks: string;
    readonly free: string;
  }[];
  readonly static: { readonly total: string; readonly reserved: number };
}

/** The conditions that Plexus writes. */
const ownTypes: readonly string[] = ["Ready", "Full", "Overlapping"];
/** Maximum length of a condition's message (metav1.Condition). */
const maxMessage = 32_768;

/** The status of a pool. */
export function poolStatus(input: PoolStatusInput): PoolStatus {
  const { acceptance, usage, conditions } = input;
  const { blocks, families, statics } = usage;
  const judged = [
    judgedCondition(input, "Ready", ready(input), input.now),
    judgedCondition(input, "Full", full(input), input.now),
    judgedCondition(input, "Overlapping", overlapping(acceptance), input.now),
  ];
  return {
    acceptedRanges: acceptance.acceptedRanges,
    // Other programs' conditions stay: two writers that remove each other's would never end.
    conditions: [...judged, ...conditions.filter(({ type }) => !ownTypes.includes(type))],
    blocks,
    addresses: families.map(({ family, total, inBlocks, free }) => {
      return { family: `IPv${family}`, total: String(total), inBlocks: String(inBlocks), free: String(free) };
    }),
    static: { total: String(statics.total), reserved: statics.reserved },
  };
}

/** Whether the stored status (any JSON) says something else, apart from times. */
export function differs(stored: unknown, next: PoolStatus): boolean {
  return canonical(stored) !== canonical(next);
}

function ready({ problem, isDeleted, acceptance, usage }: PoolStatusInput): Judgement {
  if (isDeleted) {
    const { blocks, statics } = usage;
    const left = `${blocks.claimed} blocks and ${statics.reserved} reservations`;
    return { status: "False", reason: "Deleting", message: `no block is claimed any more; the pool goes when ${left} are gone` };
  }
  if (problem !== undefined) return { status: "False", reason: "Invalid", message: `the pool ${problem}`.slice(0, maxMessage) };
  if (acceptance.acceptedRanges === 0) {
    return {
      status: "False",
      reason: "Overlapping",
      message: `${acceptance.overlap ?? "no range is accepted"}; no address is handed out`,
    };
  }
  return { status: "True", reason: "Ready", message: "nodes can claim blocks" };
}

function full({ usage, acceptance }: PoolStatusInput): Judgement {
  const { families, blocks } = usage;
  const empty = families.filter(({ free }) => free === 0n).map(({ family }) => `IPv${family}`);
  if (acceptance.acceptedRanges > 0 && empty.length > 0) {
    const message = `every ${empty.join(" and ")} address is in one of the ${blocks.claimed} claimed blocks; append a range, or free blocks`;
    return { status: "True", reason: "NoFreeAddress", message };
  }
  return { status: "False", reason: "FreeAddresses", message: "addresses are free" };
}

function overlapping({ acceptedRanges, overlap }: Acceptance): Judgement {
  if (overlap === undefined) return { status: "False", reason: "NoOverlap", message: "no other pool has these addresses" };
  return { status: "True", reason: "Overlapping", message: `${overlap}; the first ${acceptedRanges} ranges are used` };
}

/** JSON with sorted keys, without times. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, each: unknown) => {
    if (key === "lastTransitionTime") return undefined;
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
