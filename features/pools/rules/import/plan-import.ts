// The change of an AddressPool by an import of other plugins' addresses: its exclusions. An excluded address is handed out by no node, and its pod keeps
// it. A later import takes out the exclusions of pods that are gone.

import { type AddressBlock } from "../address-block.ts";
import { type AddressPool, poolBounds } from "../address-pool.ts";
import type { PodAddress } from "../pod-addresses.ts";
import { assignableSpans } from "../pool-blocks.ts";
import { type AddressSpan, hasAddress, readSpan } from "../spans.ts";
import { type Family, formatAddress, formatCidr, type IpAddress, networkOf } from "../../../../src/net/ip.ts";
import { type HeldAddress, inTwoHands, isOneOwner, ownerText } from "./held-address.ts";

/** The pool and the addresses before an import. */
export interface ImportInput {
  readonly pool: AddressPool;
  /** `spec.exclude` as it is. */
  readonly exclude: readonly string[];
  /** The name of this import among others: whereabouts, or a node's host-local directories. */
  readonly source: string;
  /** The exclusions of earlier imports, by source. */
  readonly imported: Readonly<Record<string, readonly string[]>>;
  readonly records: readonly HeldAddress[];
  /** Whether the records are those of all nodes. Otherwise a pool's whole subnet stays excluded: other nodes may have given addresses of it. */
  readonly isOfAllNodes: boolean;
  readonly blocks: readonly AddressBlock[];
  /** Addresses of running pods. */
  readonly used: readonly PodAddress[];
}

/** The plan. Without conflicts it can be written. */
export interface ImportPlan {
  /** The pool's addresses that the source has given. */
  readonly addresses: readonly { readonly address: string; readonly owner: string; readonly source: string }[];
  /** Records whose pod is gone or has another address: their addresses stay excluded until the record is gone. */
  readonly stale: readonly string[];
  /** Running pods that have an address of an earlier import without a record: their addresses stay excluded, too. */
  readonly unrecorded: readonly string[];
  /** Sentences that name both owners of each address with two owners, and whatever else forbids the import. */
  readonly conflicts: readonly string[];
  readonly exclude: readonly string[];
  /** The pool's subnets that stay excluded as a whole until an administrator takes them out of `exclude`. */
  readonly wholeSubnets: readonly string[];
  readonly imported: Readonly<Record<string, readonly string[]>>;
}

/** Plans an import. */
export function planImport(input: ImportInput): ImportPlan {
  const { pool, exclude, source, imported, records, isOfAllNodes, blocks, used } = input;
  const inPool = records.filter(({ address }) => isOfPool(pool, address));
  const conflicts = inTwoHands(inPool).map(({ address, first, second }) => {
    return `${address} has two owners: ${ownerText(first.owner)} (${first.source}) and ${ownerText(second.owner)} (${second.source})`;
  });
  const stale: string[] = [];
  for (const record of inPool) {
    const text = formatAddress(record.address);
    const pods = used.filter(({ address }) => formatAddress(address) === text);
    const other = pods.find((pod) => !isOwnerOf(record, pod));
    if (other !== undefined) {
      conflicts.push(
        `${text} has two owners: ${ownerText(record.owner)} (${record.source}) and the running pod ${other.namespace}/${other.pod} on node ${other.node}`,
      );
    } else if (pods.length === 0)
      stale.push(`${text} of ${ownerText(record.owner)} (${record.source}): no running pod has the address`);
    const block = blocks.find(
      ({ pool: of, span }) => of === pool.name && hasAddress(assignableSpans(pool, span), record.address),
    );
    if (block !== undefined) {
      conflicts.push(
        `${text} of ${ownerText(record.owner)} is in AddressBlock ${block.name}: node ${block.node} may hand it out`,
      );
    }
    const earlier = Object.entries(imported).find(
      ([name, spans]) => name !== source && hasAddress(spansOf(spans), record.address),
    );
    if (earlier !== undefined)
      conflicts.push(`${text} of ${ownerText(record.owner)} (${record.source}) was imported from ${earlier[0]} already`);
  }
  const before = imported[source] ?? [];
  const beforeSpans = spansOf(before);
  const unrecorded = used.filter(
    ({ address }) => hasAddress(beforeSpans, address) && !inPool.some((record) => isSame(record.address, address)),
  );
  const held = cidrsOf([...inPool, ...unrecorded].map(({ address }) => address));
  // A whole subnet is what keeps nodes from handing out an address before the import.
  const subnets = new Set(pool.ranges.map(({ subnet }) => formatCidr(subnet)));
  const wholeSubnets = isOfAllNodes ? [] : exclude.filter((each) => subnets.has(each));
  const others = Object.entries(imported).filter(([name]) => name !== source);
  const kept = exclude.filter((each) => !before.includes(each) && !subnets.has(each));
  const next = [...new Set([...wholeSubnets, ...kept, ...others.flatMap(([, spans]) => spans), ...held])];
  if (next.length > poolBounds.exclusions) {
    conflicts.push(
      `the pool would have ${next.length} exclusions, and ${poolBounds.exclusions} are allowed: import again when fewer pods have addresses`,
    );
  }
  return {
    addresses: inPool.map((record) => {
      return { address: formatAddress(record.address), owner: ownerText(record.owner), source: record.source };
    }),
    stale,
    unrecorded: unrecorded.map(({ address, namespace, pod, node }) => {
      return `${formatAddress(address)} of the running pod ${namespace}/${pod} on node ${node}: ${source} has no record of it`;
    }),
    conflicts: [...new Set(conflicts)],
    exclude: next,
    wholeSubnets,
    imported: Object.fromEntries([...others, ...(held.length === 0 ? [] : [[source, held] as const])]),
  };
}

/** The fewest networks that have exactly these addresses, ascending. A network of one address is written without a prefix. */
export function cidrsOf(addresses: readonly IpAddress[]): readonly string[] {
  const cidrs: string[] = [];
  for (const family of [4, 6] as const) {
    const values = [...new Set(addresses.flatMap((each) => (each.family === family ? [each.value] : [])))].sort((a, b) =>
      a < b ? -1 : 1,
    );
    for (let start = 0; start < values.length;) {
      let end = start;
      while (end + 1 < values.length && values[end + 1] === (values[end] ?? 0n) + 1n) end++;
      cidrs.push(...cidrsOfSpan({ family, first: values[start] ?? 0n, last: values[end] ?? 0n }));
      start = end + 1;
    }
  }
  return cidrs;
}

function cidrsOfSpan({ family, first, last }: AddressSpan): readonly string[] {
  const cidrs: string[] = [];
  for (let value = first; value <= last;) {
    let bits = 0n;
    while (value % 2n ** (bits + 1n) === 0n && value + 2n ** (bits + 1n) - 1n <= last) bits += 1n;
    cidrs.push(textOf(family, value, bits));
    value += 2n ** bits;
  }
  return cidrs;
}

function textOf(family: Family, value: bigint, bits: bigint): string {
  const address = { family, value };
  return bits === 0n ? formatAddress(address) : formatCidr({ address, prefix: (family === 4 ? 32 : 128) - Number(bits) });
}

function isOfPool(pool: AddressPool, address: IpAddress): boolean {
  return pool.ranges.some(({ subnet }) => {
    const { first, last } = networkOf(subnet);
    return hasAddress([{ family: first.family, first: first.value, last: last.value }], address);
  });
}

function isSame(left: IpAddress, right: IpAddress): boolean {
  return left.family === right.family && left.value === right.value;
}

/** A record without a pod may be any pod's: host-local knows containers only. */
function isOwnerOf({ owner }: HeldAddress, { namespace, pod, ifname }: PodAddress): boolean {
  const live = { containerId: owner.containerId, ifname, podNamespace: namespace, podName: pod };
  return isOneOwner({ ...owner, containerId: live.containerId }, live) || (owner.podName === "" && owner.containerId !== "");
}

function spansOf(texts: readonly string[]): readonly AddressSpan[] {
  return texts.flatMap((text) => readSpan(text) ?? []);
}
