// The state of connections at the node's end of a veth. nftables has no connection tracking where a device receives and sends (`nft_ct` refuses the family
// netdev), and that of bridges (nf_conntrack_bridge) is an option that kernels lack and that takes equal addresses on two bridges for one connection. So the
// rules themselves note connections in sets of the interface, whose elements time out as those of connection tracking do.

import type { Family } from "../../../src/net/ip.ts";
import {
  bytesOf,
  echoKey,
  ethertypes,
  fragmentKey,
  is,
  isFragment,
  isNot,
  portsKey,
  protocolKey,
  protocols,
  quotedKey,
  quotesPlainHeader,
  type Way,
} from "./flow-fields.ts";
import type { Match, NamedSet, PacketField, RuleEnd, TableChain, TableRule } from "./table.ts";

/** Seconds without a packet after which a connection is forgotten: those of the kernel's connection tracking, but for closed ones. */
const seconds = {
  opening: 120,
  open: 432_000,
  closed: 30,
  closing: 60,
  datagrams: 180,
  echo: 30,
  others: 600,
  fragments: 30,
} as const;

const families: readonly Family[] = [4, 6];
const ways: readonly Way[] = ["in", "out"];
const accept: RuleEnd = { kind: "accept" };
const TCP_FLAGS = bytesOf("transport", 13, 1);
const [FIN_RST, SYN, SYN_ACK] = [0x05, 0x02, 0x12];
const echoTypes = { 4: { request: 8, reply: 0 }, 6: { request: 128, reply: 129 } } as const;
/** ICMP's errors that quote a packet. */
const errorTypes = {
  4: [
    [3, 3],
    [11, 12],
  ],
  6: [[1, 4]],
} as const;

const other = (way: Way): Way => (way === "in" ? "out" : "in");
const flowSet = (opener: Way, ifname: string, family: Family): string => `flows/${opener}/${ifname}/${family}`;
const closingSet = (ifname: string, family: Family): string => `closing/${ifname}/${family}`;
const fragmentSet = (ifname: string, family: Family): string => `fragments/${ifname}/${family}`;
/** The chain that notes a packet which goes `way` as one of a connection of `opener`'s side, and accepts it. */
const noteChain = (opener: Way, way: Way, ifname: string): string => `note/${opener}/${way}/${ifname}`;
const knownChain = (way: Way, ifname: string, family: Family): string => `known/${way}/${ifname}/${family}`;

/** The rules of an interface about packets that go one way. */
export interface JudgedWay {
  readonly way: Way;
  /** The chain of the policies, which ends with a drop; undefined: no policy isolates this direction. */
  readonly policies: string | undefined;
}

/** The name of the chain that decides about the interface's packets of a direction. */
export function judgeChain(way: Way, ifname: string): string {
  return `judge/${way}/${ifname}`;
}

/** The end in place of a policy's acceptance: the packet opens a connection. */
export function noted(way: Way, ifname: string): RuleEnd {
  return { kind: "jump", chain: noteChain(way, way, ifname) };
}

/** The chains and sets of one interface, of which a policy isolates at least one direction. `keep`: known connections go on whatever the policies say now. */
export function flowParts(
  ifname: string,
  judged: readonly JudgedWay[],
  keep: boolean,
): { readonly chains: readonly TableChain[]; readonly sets: readonly NamedSet[] } {
  const sets = families.flatMap((family) => [
    ...ways.map((way) => emptySet(flowSet(way, ifname, family), "flow", family)),
    emptySet(closingSet(ifname, family), "flow", family),
    emptySet(fragmentSet(ifname, family), "fragment", family),
  ]);
  const chains = judged.flatMap(({ way, policies }): TableChain[] => [
    { name: judgeChain(way, ifname), rules: judgeRules(way, ifname, policies) },
    ...families.map((family) => ({ name: knownChain(way, ifname, family), rules: knownRules(way, ifname, family, keep) })),
    ...ways.map((opener) => ({ name: noteChain(opener, way, ifname), rules: noteRules(opener, way, ifname) })),
  ]);
  return { chains, sets };
}

function emptySet(name: string, kind: "flow" | "fragment", family: Family): NamedSet {
  return { name, kind, family, elements: new Set() };
}

function judgeRules(way: Way, ifname: string, policies: string | undefined): readonly TableRule[] {
  const known = families.map((family) => rule([ofFamily(family)], { kind: "jump", chain: knownChain(way, ifname, family) }));
  if (policies !== undefined) return [...known, rule([], { kind: "jump", chain: policies })];
  return [...known, ...families.map((family) => rule([ofFamily(family)], noted(way, ifname))), rule([], accept)];
}

/** Packets of known connections: replies, those in the connection's own direction if they are kept, ICMP errors about it, and later fragments. */
function knownRules(way: Way, ifname: string, family: Family, keep: boolean): readonly TableRule[] {
  const openers = keep ? [other(way), way] : [other(way)];
  const icmp = protocols.icmp[family];
  const known = openers.flatMap((opener) => {
    const set = flowSet(opener, ifname, family);
    const end: RuleEnd = { kind: "jump", chain: noteChain(opener, way, ifname) };
    return [
      rule([isNot({ of: "protocol" }, [icmp]), inSet(set, portsKey(family, way))], end),
      rule([...echo(family, opener, way), inSet(set, echoKey(family, way))], end),
      rule([...hasNoPorts(family), inSet(set, protocolKey(family, way))], end),
    ];
  });
  const errors = errorTypes[family].flatMap(([first, last]) =>
    ways.flatMap((opener) =>
      (["ports", "echo"] as const).map((of) => {
        const quoted = inSet(flowSet(opener, ifname, family), quotedKey(family, way, of));
        return rule([protocol(icmp), { kind: "icmp-type", first, last }, ...quotesPlainHeader(family), quoted], accept);
      }),
    ),
  );
  const fragments = rule([isFragment(family, "later"), inSet(fragmentSet(ifname, family), fragmentKey(family))], accept);
  return [...known, ...errors, fragments];
}

function noteRules(opener: Way, way: Way, ifname: string): readonly TableRule[] {
  const fragments = families.flatMap((family) => [
    rule([ofFamily(family), isFragment(family, "later")], accept),
    rule(
      [ofFamily(family), isFragment(family, "any"), note(fragmentSet(ifname, family), fragmentKey(family), seconds.fragments)],
      undefined,
    ),
  ]);
  const all = families.flatMap((family) => {
    const [set, closing, icmp, ports] = [
      flowSet(opener, ifname, family),
      closingSet(ifname, family),
      protocols.icmp[family],
      portsKey(family, way),
    ];
    const tcp = [ofFamily(family), protocol(protocols.tcp)];
    return [
      rule(
        [...tcp, isNot(TCP_FLAGS, [0], [FIN_RST]), note(closing, ports, seconds.closing), note(set, ports, seconds.closed)],
        accept,
      ),
      // The last acknowledgement of a closed connection must not count as one of an open connection.
      rule([...tcp, inSet(closing, ports), note(set, ports, seconds.closed)], accept),
      rule([...tcp, is(TCP_FLAGS, [SYN], [SYN_ACK]), note(set, ports, seconds.opening)], accept),
      rule([...tcp, note(set, ports, seconds.open)], accept),
      ...protocols.withPorts.map((each) => rule([ofFamily(family), protocol(each), note(set, ports, seconds.datagrams)], accept)),
      rule([ofFamily(family), ...echo(family, opener, way), note(set, echoKey(family, way), seconds.echo)], accept),
      rule([ofFamily(family), protocol(icmp)], accept),
      rule([ofFamily(family), ...hasNoPorts(family), note(set, protocolKey(family, way), seconds.others)], accept),
    ];
  });
  return [...fragments, ...all, rule([], { kind: "drop" })];
}

/** An echo request goes the opener's way, a reply the other one. */
function echo(family: Family, opener: Way, way: Way): readonly Match[] {
  const type = echoTypes[family][opener === way ? "request" : "reply"];
  return [protocol(protocols.icmp[family]), { kind: "icmp-type", first: type, last: type }];
}

/** A protocol whose key has its number in the places of the ports. Of another protocol, such a key is that of the flow between the ports of this number. */
function hasNoPorts(family: Family): readonly Match[] {
  return [protocols.icmp[family], protocols.tcp, ...protocols.withPorts].map((each) => isNot({ of: "protocol" }, [each]));
}

function protocol(number: number): Match {
  return { kind: "protocol", protocol: number };
}

function ofFamily(family: Family): Match {
  return { kind: "ethertype", value: ethertypes[family] };
}

function inSet(set: string, fields: readonly PacketField[]): Match {
  return { kind: "fields", set, fields, isNot: false };
}

function note(set: string, fields: readonly PacketField[], time: number): Match {
  return { kind: "note", set, fields, seconds: time };
}

function rule(matches: readonly Match[], end: RuleEnd | undefined): TableRule {
  return { matches, end: end ?? { kind: "continue" }, comment: "" };
}
