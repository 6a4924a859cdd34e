// The table at the node's ends of a pod's veths: the pod's own table once more, where no process of the pod can change it, and with packet sockets of the pod
// before it. Each end pins the addresses from which the pod sends.

import { type Family, formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { Established } from "./compile.ts";
import { flowParts, judgeChain, noted } from "./flow-chains.ts";
import { addressField, ARP, bytesOf, ethertypes, hasPorts, is, isNot, protocols, vlanTags, type Way } from "./flow-fields.ts";
import type { Match, NamedSet, PolicyTable, RuleEnd, TableChain, TableRule } from "./table.ts";

/** The node's end of an attachment's veth. */
export interface NodeEnd {
  /** The interface in the pod. */
  readonly ifname: string;
  /** The link on the node. */
  readonly device: string;
  /** The MAC of the pod's link, by its bytes. */
  readonly mac: readonly number[];
  /** The addresses of the attachment. */
  readonly addresses: readonly IpAddress[];
}

const families: readonly Family[] = [4, 6];
const [accept, drop]: readonly [RuleEnd, RuleEnd] = [{ kind: "accept" }, { kind: "drop" }];
const NEIGHBOUR_ADVERTISEMENT = 136;

/** The table; undefined without an end. `pod`: the pod's own table; undefined: no policy selects the pod, and its ends only pin addresses. */
export function nodeTable(
  ends: readonly NodeEnd[],
  pod: PolicyTable | undefined,
  established: Established,
): PolicyTable | undefined {
  if (ends.length === 0) return undefined;
  const parts = ends.map((end) => endParts(end, pod, established));
  return { chains: parts.flatMap(({ chains }) => chains), sets: parts.flatMap(({ sets }) => sets) };
}

/** The interfaces that policies of a pod's table isolate. */
export function isolatedInterfaces({ chains }: PolicyTable): ReadonlySet<string> {
  const jumps = chains.flatMap(({ hook, rules }) => (hook === undefined ? [] : rules));
  return new Set(jumps.flatMap(({ end }) => (end.kind === "jump" ? [end.chain.slice(end.chain.indexOf("/") + 1)] : [])));
}

/** The interfaces at whose node's ends the table holds. */
export function securedInterfaces({ chains }: PolicyTable): readonly string[] {
  return chains.flatMap(({ hook, name }) => (hook?.at === "ingress" ? [name.slice(name.indexOf("/") + 1)] : []));
}

type Parts = Pick<PolicyTable, "chains" | "sets">;

function endParts(end: NodeEnd, pod: PolicyTable | undefined, established: Established): Parts {
  const { ifname, device } = end;
  const policies = (["in", "out"] as const).map((way) => ({ way, ...policyParts(way, ifname, pod) }));
  const judged = policies.map(({ way, chains }) => ({ way, policies: chains.length === 0 ? undefined : `${way}/${ifname}` }));
  const isIsolated = judged.some((each) => each.policies !== undefined);
  const flows: Parts = isIsolated
    ? flowParts(ifname, judged, established === "keep")
    : { chains: judged.map(({ way }) => ({ name: judgeChain(way, ifname), rules: [rule([], accept)] })), sets: [] };
  const base: readonly TableChain[] = [
    { name: `from/${ifname}`, hook: { at: "ingress", priority: 0, device }, rules: fromRules(end) },
    { name: `to/${ifname}`, hook: { at: "egress", priority: 0, device }, rules: toRules(end) },
  ];
  return {
    chains: [...base, ...sourceChains(end), ...flows.chains, ...policies.flatMap(({ chains }) => chains)],
    sets: [...families.map((family) => ownSet(end, family)), ...flows.sets, ...policies.flatMap(({ sets }) => sets)],
  };
}

/** The pod's chains of one interface and direction. Connection tracking's part is that of the flows, and what a policy accepts opens a connection. */
function policyParts(way: Way, ifname: string, pod: PolicyTable | undefined): Parts {
  const name = `${way}/${ifname}`;
  const isOwn = (each: string): boolean => each.startsWith(`${name}/`);
  const chains = (pod?.chains ?? []).flatMap((chain): TableChain[] => {
    if (chain.name === name) return [{ ...chain, rules: chain.rules.filter(({ matches }) => !matches.some(isTracking)) }];
    if (!isOwn(chain.name)) return [];
    const noting = chain.rules.map((each) => (each.end.kind === "accept" ? { ...each, end: noted(way, ifname) } : each));
    return [{ ...chain, rules: noting.flatMap(withPorts) }];
  });
  return { chains, sets: (pod?.sets ?? []).filter((set) => isOwn(set.name)) };
}

/** A rule that reads ports, for each family: a later fragment has none. */
function withPorts(each: TableRule): readonly TableRule[] {
  if (!each.matches.some(readsPorts)) return [each];
  const own = each.matches.find((match) => match.kind === "set")?.family;
  return families
    .filter((family) => own === undefined || own === family)
    .map((family) => ({ ...each, matches: [ethertype(ethertypes[family]), ...hasPorts(family), ...each.matches] }));
}

function readsPorts(match: Match): boolean {
  return match.kind === "port" || (match.kind === "set" && match.of === "port");
}

function isTracking({ kind }: Match): boolean {
  return kind === "state" || kind === "reply";
}

const sourceChain = (ifname: string, of: Family | "arp"): string => `source/${ifname}/${of}`;

function ownSet({ ifname, addresses }: NodeEnd, family: Family): NamedSet {
  const elements = addresses.filter((each) => each.family === family).map(formatAddress);
  return { name: `own/${ifname}/${family}`, kind: "address", family, elements: new Set(elements) };
}

function fromRules({ ifname, mac }: NodeEnd): readonly TableRule[] {
  return [
    rule([isNot(bytesOf("link", 6, 6), mac)], drop, "the MAC of the pod's link"),
    // A host reads the packet behind two tags of the VLAN 0.
    ...vlanTags.map((tag) => rule([ethertype(tag)], drop, "a second VLAN tag")),
    rule([ethertype(ARP)], { kind: "jump", chain: sourceChain(ifname, "arp") }),
    ...families.map((family) => rule([ethertype(ethertypes[family])], { kind: "jump", chain: sourceChain(ifname, family) })),
    rule([], { kind: "jump", chain: judgeChain("out", ifname) }),
  ];
}

function toRules({ ifname }: NodeEnd): readonly TableRule[] {
  return [rule([ethertype(ARP)], accept), rule([], { kind: "jump", chain: judgeChain("in", ifname) })];
}

/**
 * The addresses from which the pod may send: those of the attachment; without one, DHCP's and IPv6's packets of a host that has none yet; link-local ones of IPv6,
 * which the pod's kernel chooses and no router forwards. ARP and neighbour advertisements name the pod's own addresses only.
 */
function sourceChains({ ifname, mac }: NodeEnd): readonly TableChain[] {
  const judge: RuleEnd = { kind: "jump", chain: judgeChain("out", ifname) };
  const own = (family: Family, field = addressField(family, "source"), isOther = false): Match => ({
    kind: "fields",
    set: `own/${ifname}/${family}`,
    fields: [field],
    isNot: isOther,
  });
  const arp = [is(bytesOf("network", 0, 6), [0, 1, 8, 0, 6, 4]), is(bytesOf("network", 8, 6), mac)];
  const arpSender = bytesOf("network", 14, 4);
  const target = bytesOf("transport", 8, 16);
  const linkLocal = [
    [0xfe, 0x80],
    [0xff, 0xc0],
  ] as const;
  const icmp6: Match = { kind: "protocol", protocol: protocols.icmp[6] };
  const advertisement: Match = { kind: "icmp-type", first: NEIGHBOUR_ADVERTISEMENT, last: NEIGHBOUR_ADVERTISEMENT };
  const notLinkLocal = isNot(bytesOf("transport", 8, 2), ...linkLocal);
  return [
    {
      name: sourceChain(ifname, "arp"),
      rules: [rule([...arp, own(4, arpSender)], accept), rule([...arp, is(arpSender, zeros(4))], accept), rule([], drop)],
    },
    {
      name: sourceChain(ifname, 4),
      rules: [
        rule([own(4)], judge),
        rule(
          [is(addressField(4, "source"), zeros(4)), is(addressField(4, "destination"), [255, 255, 255, 255]), ...dhcp],
          judge,
          "DHCP",
        ),
        rule([], drop),
      ],
    },
    {
      name: sourceChain(ifname, 6),
      rules: [
        rule([icmp6, advertisement, own(6, target, true), notLinkLocal], drop),
        rule([own(6)], judge),
        rule([is(bytesOf("network", 8, 2), ...linkLocal)], judge),
        rule([is(addressField(6, "source"), zeros(16)), icmp6], judge, "duplicate address detection"),
        rule([], drop),
      ],
    },
  ];
}

const dhcp: readonly Match[] = [
  { kind: "protocol", protocol: 17 },
  { kind: "port", side: "source", first: 68, last: 68 },
  { kind: "port", side: "destination", first: 67, last: 67 },
];

function zeros(count: number): readonly number[] {
  return Array.from({ length: count }, () => 0);
}

function ethertype(value: number): Match {
  return { kind: "ethertype", value };
}

function rule(matches: readonly Match[], end: RuleEnd, comment = ""): TableRule {
  return { matches, end, comment };
}
