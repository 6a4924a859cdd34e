// A report on all pools of a cluster: their use by node and block, free addresses, and conflicts.

import { formatAddress } from "../../../src/net/ip.ts";
import { type AddressBlock, readAddressBlock } from "./address-block.ts";
import { type AddressPool, readAddressPool } from "./address-pool.ts";
import { type AddressReservation, readAddressReservation } from "./address-reservation.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { readConditions } from "../../../src/kube/conditions.ts";
import type { PodAddress } from "./pod-addresses.ts";
import { assignableSpans } from "./pool-blocks.ts";
import { isBlockOf, usageOf } from "./pool-usage.ts";
import { formatSpan, hasAddress, sizeOf } from "./spans.ts";

/** The objects of a cluster, as its API lists them. */
export interface PoolObjects {
  readonly pools: readonly unknown[];
  readonly blocks: readonly unknown[];
  readonly reservations: readonly unknown[];
  /** The addresses of running pods. */
  readonly used: readonly PodAddress[];
}

/** One pool. Numbers of addresses are texts, because an IPv6 range has more than a number can hold. */
export interface ReportedPool {
  readonly name: string;
  readonly subnets: readonly string[];
  readonly blocks: number;
  readonly nodes: number;
  readonly addresses: readonly {
    readonly family: string;
    readonly total: string;
    readonly inBlocks: string;
    readonly free: string;
  }[];
  readonly reserved: number;
  readonly static: string;
  /** Types of the conditions that are True. */
  readonly conditions: readonly string[];
}

/** One block. */
export interface ReportedBlock {
  readonly name: string;
  readonly pool: string;
  readonly node: string;
  readonly addresses: string;
  readonly size: string;
  /** Addresses that pods have, by their network status. */
  readonly used: number;
  readonly state: "claimed" | "orphaned" | "foreign";
}

/** One reservation. */
export interface ReportedReservation {
  readonly name: string;
  readonly pool: string;
  readonly address: string;
  readonly owner: string;
  readonly holders: readonly string[];
}

/** The report. */
export interface PoolReport {
  readonly pools: readonly ReportedPool[];
  readonly blocks: readonly ReportedBlock[];
  readonly reservations: readonly ReportedReservation[];
  /** Sentences about what must not be: an address with two owners, or one that its holder has no right to. */
  readonly conflicts: readonly string[];
}

/** The report on the pools `only`; on all of them without names. */
export function poolReport(objects: PoolObjects, only: readonly string[] = []): PoolReport {
  const conflicts: string[] = [];
  const isWanted = (pool: string): boolean => only.length === 0 || only.includes(pool);
  const pools = objects.pools.filter((each) => isWanted(nameOf(each)));
  const readable = read("AddressPool", pools, readAddressPool, conflicts);
  const blocks = read("AddressBlock", objects.blocks, readAddressBlock, conflicts).filter(({ pool }) => isWanted(pool));
  const reservations = read("AddressReservation", objects.reservations, readAddressReservation, conflicts).filter(({ pool }) =>
    isWanted(pool),
  );
  const { used } = objects;
  for (const pool of readable) conflicts.push(...conflictsIn(pool, blocks, reservations, used));
  for (const { name, pool } of [...blocks, ...reservations]) {
    if (!readable.some((each) => each.name === pool)) conflicts.push(`${name} is of AddressPool ${pool}, which does not exist`);
  }
  const conditions = new Map(pools.map((each) => [nameOf(each), trueConditions(each)]));
  return {
    pools: readable.map((pool) => reportedPool(pool, blocks, reservations, conditions.get(pool.name) ?? [])),
    blocks: blocks.map((block) => reportedBlock(block, readable, used)),
    reservations: reservations.map(({ name, pool, address, owner, holders }) => {
      const of = `${owner.kind} ${owner.namespace}/${owner.name}${owner.pod === undefined ? "" : ` pod ${owner.pod}`}`;
      const pods = holders.map((holder) => `${owner.namespace}/${holder.pod} on ${holder.node}`);
      return { name, pool, address: formatAddress(address), owner: of, holders: pods };
    }),
    conflicts,
  };
}

function conflictsIn(
  pool: AddressPool,
  blocks: readonly AddressBlock[],
  reservations: readonly AddressReservation[],
  used: readonly PodAddress[],
): readonly string[] {
  const conflicts: string[] = [];
  const own = blocks.filter((block) => block.pool === pool.name);
  for (const { name, index, span, node } of own) {
    if (isBlockOf(pool, index, span)) continue;
    conflicts.push(`AddressBlock ${name} of node ${node} has ${formatSpan(span)}, which are not block ${index} of the pool`);
  }
  const inPool = used.filter(({ address }) => pool.ranges.some(({ span, statics }) => hasAddress([span, ...statics], address)));
  const first = new Map<string, PodAddress>();
  for (const each of inPool) {
    const text = formatAddress(each.address);
    const reservation = reservations.find(({ pool: of, address }) => of === pool.name && formatAddress(address) === text);
    const isHolder = ({ podUid }: PodAddress): boolean =>
      reservation?.holders.some((holder) => holder.podUid === podUid) === true;
    const other = first.get(text);
    if (other === undefined) first.set(text, each);
    else if (other.podUid !== each.podUid && !(isHolder(other) && isHolder(each))) {
      conflicts.push(`${text} has two owners: ${podText(other)} and ${podText(each)}`);
    }
    if (isHolder(each) || hasAddress(pool.exclusions, each.address)) continue;
    const block = own.find(({ span }) => hasAddress([span], each.address));
    if (reservation !== undefined) {
      conflicts.push(
        `${text} of ${podText(each)} is reserved for ${reservation.owner.kind} ${reservation.owner.namespace}/${reservation.owner.name}`,
      );
    } else if (block === undefined) conflicts.push(`${text} of ${podText(each)} is in no block and no reservation`);
    else if (block.node !== each.node)
      conflicts.push(`${text} of ${podText(each)} is in AddressBlock ${block.name} of node ${block.node}`);
  }
  return conflicts;
}

function reportedPool(
  pool: AddressPool,
  blocks: readonly AddressBlock[],
  reservations: readonly AddressReservation[],
  conditions: readonly string[],
): ReportedPool {
  const own = blocks.filter((block) => block.pool === pool.name);
  const accepted = { ...pool, ranges: pool.ranges.slice(0, pool.acceptedRanges) };
  const usage = usageOf(
    accepted,
    own,
    reservations.filter((each) => each.pool === pool.name),
  );
  return {
    name: pool.name,
    subnets: pool.ranges.map(({ span }) => formatSpan(span)),
    blocks: own.length,
    nodes: new Set(own.map(({ node }) => node)).size,
    addresses: usage.families.map(({ family, total, inBlocks, free }) => {
      return { family: `IPv${family}`, total: String(total), inBlocks: String(inBlocks), free: String(free) };
    }),
    reserved: usage.statics.reserved,
    static: String(usage.statics.total),
    conditions,
  };
}

function reportedBlock(block: AddressBlock, pools: readonly AddressPool[], used: readonly PodAddress[]): ReportedBlock {
  const { name, node, span, index, isOrphaned } = block;
  const pool = pools.find((each) => each.name === block.pool);
  const isForeign = pool === undefined || !isBlockOf(pool, index, span);
  return {
    name,
    pool: block.pool,
    node,
    addresses: formatSpan(span),
    size: String(sizeOf(pool === undefined ? [span] : assignableSpans(pool, span))),
    used: used.filter(({ address }) => hasAddress([span], address)).length,
    state: isForeign ? "foreign" : isOrphaned ? "orphaned" : "claimed",
  };
}

function podText({ namespace, pod, node }: PodAddress): string {
  return `pod ${namespace}/${pod}${node === "" ? "" : ` on node ${node}`}`;
}

function read<T>(
  kind: string,
  objects: readonly unknown[],
  reader: (object: unknown) => { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string },
  conflicts: string[],
): readonly T[] {
  return objects.flatMap((object) => {
    const value = reader(object);
    if (value.ok) return [value.value];
    conflicts.push(`${kind} ${nameOf(object)} cannot be read: ${value.problem}`);
    return [];
  });
}

function nameOf(object: unknown): string {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const name = isJsonObject(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" ? name.slice(0, 253) : "?";
}

function trueConditions(object: unknown): readonly string[] {
  const status = isJsonObject(object) && isJsonObject(object["status"]) ? object["status"] : {};
  return readConditions(status["conditions"]).flatMap(({ type, status: now }) => (now === "True" ? [type] : []));
}
