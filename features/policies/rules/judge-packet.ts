// Follows a packet through a table as the kernel does, and says which rule decided. `plexusctl policies explain` uses it.

import { type Family, formatAddress, type IpAddress, cidrContains, readAddress } from "../../../src/net/ip.ts";
import type { Match, NamedSet, PolicyTable, TableChain } from "./table.ts";

/** The parts of a packet that rules look at. */
export interface Packet {
  readonly direction: "in" | "out";
  readonly ifname: string;
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly protocol: number;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly icmpType?: number;
  readonly hopLimit?: number;
  /** The state of the packet's connection. */
  readonly state: "new" | "established" | "related";
  readonly isReply?: boolean;
}

/** The decision about a packet. */
export interface Judgement {
  readonly accepted: boolean;
  /** The chains from the hook's to the one that decided, each with the comment of the rule that led on; empty: no chain is for the packet. */
  readonly path: readonly { readonly chain: string; readonly comment: string }[];
}

/** Judges a packet. A packet that no rule is for is accepted. */
export function judgePacket(table: PolicyTable, packet: Packet): Judgement {
  const chains = new Map(table.chains.map((chain) => [chain.name, chain]));
  const sets = new Map(table.sets.map((set) => [set.name, set]));
  const base = chains.get(packet.direction === "in" ? "input" : "postrouting");
  const path = base === undefined ? undefined : follow(base, packet, chains, sets);
  return path ?? { accepted: true, path: [] };
}

/** Undefined: no rule of the chain decides. */
function follow(
  { name, rules }: TableChain,
  packet: Packet,
  chains: ReadonlyMap<string, TableChain>,
  sets: ReadonlyMap<string, NamedSet>,
): Judgement | undefined {
  for (const { matches, end, comment } of rules) {
    if (end.kind === "continue" || !matches.every((match) => holds(match, packet, sets))) continue;
    const here = { chain: name, comment };
    if (end.kind !== "jump") return { accepted: end.kind === "accept", path: [here] };
    const next = chains.get(end.chain);
    const judged = next === undefined ? undefined : follow(next, packet, chains, sets);
    if (judged !== undefined) return { accepted: judged.accepted, path: [here, ...judged.path] };
  }
  return undefined;
}

function holds(match: Match, packet: Packet, sets: ReadonlyMap<string, NamedSet>): boolean {
  switch (match.kind) {
    case "interface":
      return match.direction === packet.direction && match.name === packet.ifname;
    case "state":
      return packet.state !== "new" && match.states.includes(packet.state);
    case "reply":
      return packet.isReply === true;
    case "protocol":
      return match.protocol === packet.protocol;
    case "port":
      return isBetween(match.side === "source" ? packet.sourcePort : packet.destinationPort, match);
    case "icmp-type":
      return isBetween(packet.icmpType, match);
    case "hop-limit":
      return packet.hopLimit === match.limit;
    case "network":
      return cidrContains(match.network, packet[match.side]);
    case "set":
      return packet[match.side].family === match.family && isIn(sets.get(match.set), packet, packet[match.side]);
    // A packet is judged by its interface, whether or not the interface is in a VRF.
    case "vrf-port":
    // Rules at the node's end of a veth: the judgement is that of the pod's table, from which they are made.
    case "ethertype":
    case "bytes":
    case "fields":
    case "note":
      return false;
  }
}

function isBetween(value: number | undefined, { first, last }: { readonly first: number; readonly last: number }): boolean {
  return value !== undefined && value >= first && value <= last;
}

function isIn(set: NamedSet | undefined, packet: Packet, address: IpAddress): boolean {
  if (set === undefined) return false;
  const text = formatAddress(address);
  if (set.kind === "address") return set.elements.has(text);
  if (set.kind === "port") return set.elements.has(`${text} ${packet.protocol} ${packet.destinationPort ?? -1}`);
  return [...set.elements].some((range) => {
    const { first, last } = readRange(range, set.family);
    return address.value >= first && address.value <= last;
  });
}

/** The ends of a range's element. */
export function readRange(element: string, family: Family): { readonly first: bigint; readonly last: bigint } {
  const [first, last] = element.split("-").map((text) => readAddress(text));
  if (first?.family !== family || last?.family !== family) throw new TypeError(`${element} is no range of IPv${family}`);
  return { first: first.value, last: last.value };
}
