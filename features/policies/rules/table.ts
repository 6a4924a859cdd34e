// The form of a pod's table: chains of rules, and named sets. The form is a value without handles, so that tables can be compared and tested without a kernel.

import type { Cidr, Family } from "../../../src/net/ip.ts";
import type { OmittedPeers } from "./peer-shares.ts";

/**
 * The kinds of sets: addresses, ranges of addresses, and an address with a protocol and a port, each of one family. Rules themselves add the elements of `flow`
 * and `fragment`, which time out.
 */
export type SetKind = "address" | "range" | "port" | "flow" | "fragment";

/** Bytes of a packet: of its link, network or transport header, of the fragment header of IPv6, or the number of its transport protocol. */
export type PacketField =
  | { readonly of: "link" | "network" | "transport" | "fragment"; readonly offset: number; readonly size: number }
  | { readonly of: "protocol" };

/** A named set. Elements are texts: `10.0.0.1`, `10.0.0.0-10.0.0.255`, `10.0.0.1 6 80`. */
export interface NamedSet {
  readonly name: string;
  readonly kind: SetKind;
  readonly family: Family;
  readonly elements: ReadonlySet<string>;
}

/** The side of a packet. */
export type Side = "source" | "destination";

/** A condition of a rule. */
export type Match =
  | { readonly kind: "interface"; readonly direction: "in" | "out"; readonly name: string }
  /** The packet came in by this interface, which is in a VRF: the kernel names the VRF as the interface. */
  | { readonly kind: "vrf-port"; readonly name: string }
  | { readonly kind: "state"; readonly states: readonly ("established" | "related")[] }
  | { readonly kind: "reply" }
  | { readonly kind: "protocol"; readonly protocol: number }
  | { readonly kind: "port"; readonly side: Side; readonly first: number; readonly last: number }
  | { readonly kind: "icmp-type"; readonly first: number; readonly last: number }
  | { readonly kind: "hop-limit"; readonly limit: number }
  | { readonly kind: "network"; readonly side: Side; readonly network: Cidr }
  | { readonly kind: "set"; readonly side: Side; readonly set: string; readonly of: SetKind; readonly family: Family }
  | NodeMatch;

/** Conditions and statements of rules at the node's end of a veth. */
export type NodeMatch =
  | { readonly kind: "ethertype"; readonly value: number }
  | {
      readonly kind: "bytes";
      readonly field: PacketField;
      readonly isNot: boolean;
      readonly value: readonly number[];
      /** The bits that are compared; absent: all. */
      readonly mask?: readonly number[];
    }
  | { readonly kind: "fields"; readonly set: string; readonly fields: readonly PacketField[]; readonly isNot: boolean }
  /** Adds the fields to a set of flows or fragments, or renews their time. The rule does not go on if the set is full. */
  | { readonly kind: "note"; readonly set: string; readonly fields: readonly PacketField[]; readonly seconds: number };

/** The end of a rule; `continue`: the next rule follows. */
export type RuleEnd =
  | { readonly kind: "accept" | "drop" }
  | { readonly kind: "continue" }
  | { readonly kind: "jump"; readonly chain: string };

/** A rule. */
export interface TableRule {
  readonly matches: readonly Match[];
  readonly end: RuleEnd;
  readonly comment: string;
}

/** A chain; with a hook, the kernel calls it. */
export interface TableChain {
  readonly name: string;
  readonly hook?:
    | { readonly at: "input" | "forward" | "postrouting"; readonly priority: number }
    /** Packets that a device of the node receives or sends. */
    | { readonly at: "ingress" | "egress"; readonly priority: number; readonly device: string };
  readonly rules: readonly TableRule[];
}

/** A table. */
export interface PolicyTable {
  readonly chains: readonly TableChain[];
  readonly sets: readonly NamedSet[];
  /** Peers that the table has no place for: they are not allowed. */
  readonly omitted?: readonly OmittedPeers[];
}

/** The table without the sets' elements, as a text: tables of equal shape differ in elements only. */
export function shapeOf({ chains, sets }: PolicyTable): string {
  const shape = { chains, sets: sets.map(({ name, kind, family }) => [name, kind, family]) };
  return JSON.stringify(shape, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}

/** Whether the table has sets of peers' IPv6 addresses. */
export function hasIpv6Peers({ sets }: PolicyTable): boolean {
  return sets.some(({ kind, family }) => family === 6 && (kind === "address" || kind === "port"));
}

/** The elements of one set that change. */
export interface ElementChange {
  readonly set: NamedSet;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The changes of elements between two tables of equal shape. */
export function elementChanges(before: PolicyTable, after: PolicyTable): readonly ElementChange[] {
  const earlier = new Map(before.sets.map((set) => [set.name, set.elements]));
  return after.sets.flatMap((set): ElementChange[] => {
    const known = earlier.get(set.name) ?? new Set<string>();
    const added = [...set.elements].filter((each) => !known.has(each));
    const removed = [...known].filter((each) => !set.elements.has(each));
    return added.length + removed.length === 0 ? [] : [{ set, added, removed }];
  });
}
