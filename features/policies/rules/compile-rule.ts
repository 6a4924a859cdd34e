// Compiles one rule of a policy: its ports lead to its peers, and its peers are sets.

import { type Family, formatAddress } from "../../../src/net/ip.ts";
import { blockRanges } from "./ip-block.ts";
import { type FindPeers, type Peer, ruleQueries } from "./peers.ts";
import type { AdmitPeers } from "./peer-shares.ts";
import type { PolicyRule } from "./policy.ts";
import { type NamedPort, protocolNumbers } from "../../../src/kube/named-ports.ts";
import { type PolicyPort } from "./policy-port.ts";
import type { Match, NamedSet, RuleEnd, SetKind, Side, TableChain, TableRule } from "./table.ts";

/** Settings of one rule. */
export interface RuleInit {
  readonly rule: PolicyRule;
  readonly direction: "ingress" | "egress";
  readonly network: string;
  readonly namespace: string;
  /** The name of the rule's own chain, and the beginning of its sets' names. */
  readonly chain: string;
  /** The named ports of the pod: an ingress rule means these. */
  readonly ports: readonly NamedPort[];
  readonly findPeers: FindPeers;
  /** The families of the sets of pods' addresses. */
  readonly families: readonly Family[];
  readonly admit: AdmitPeers;
  /** The policy, as `admit` names it. */
  readonly policy: string;
}

/** The parts of a table for one rule. */
export interface CompiledRule {
  readonly rules: readonly TableRule[];
  readonly chains: readonly TableChain[];
  readonly sets: readonly NamedSet[];
}

const accept: RuleEnd = { kind: "accept" };

/** Compiles a rule. The number of rules depends on the policy's text and the families alone. */
export function compileRule(init: RuleInit): CompiledRule {
  const { rule, direction, network, namespace, chain, ports, findPeers, families, admit, policy } = init;
  const side: Side = direction === "ingress" ? "source" : "destination";
  const isEgress = direction === "egress";
  // A named port of an egress rule belongs to the peer; each peer may have another number.
  const isOfPeers = ({ port }: PolicyPort): boolean => isEgress && port !== undefined && "name" in port;
  const numbered = rule.ports.filter((port) => !isOfPeers(port)).flatMap((port) => portMatches(port, ports));
  const ofPeers = rule.ports.filter(isOfPeers);
  const hasPods = rule.peers.length > 0 && (rule.ports.length === 0 || numbered.length > 0);
  const costOf = (peer: Peer): number => peer.addresses.length * ((hasPods ? 1 : 0) + peerNumbers(peer, ofPeers).length);
  const all = ruleQueries(namespace, rule, isEgress, network).flatMap(findPeers);
  const found = admit({ found: all, costOf, policy, namespace });
  const portSets =
    ofPeers.length === 0 ? [] : families.map((family) => peerPorts(`${chain}/ports${family}`, family, ofPeers, found));
  const byPort = portSets.map((set) => ruleFor(set, side));
  if (rule.ports.length > 0 && numbered.length === 0) return { rules: byPort, chains: [], sets: portSets };
  if (rule.peers.length === 0) {
    const open = rule.ports.length === 0 ? [[]] : numbered;
    return { rules: [...open.map((matches) => toEnd(matches, accept)), ...byPort], chains: [], sets: portSets };
  }
  const sets = [...podSets(rule, chain, found, families), ...rangeSets(rule, chain)];
  const peers = sets.map((set) => ruleFor(set, side));
  if (rule.ports.length === 0) return { rules: peers, chains: [], sets };
  // With one port or one set, rules with both are fewer messages than a chain of the rule's own.
  if (numbered.length === 1 || sets.length <= 1) {
    const whole = numbered.flatMap((port) => peers.map(({ matches }) => toEnd([...port, ...matches], accept)));
    return { rules: [...whole, ...byPort], chains: [], sets: [...sets, ...portSets] };
  }
  const toPeers = numbered.map((matches) => toEnd(matches, { kind: "jump", chain }));
  return { rules: [...toPeers, ...byPort], chains: [{ name: chain, rules: peers }], sets: [...sets, ...portSets] };
}

function toEnd(matches: readonly Match[], end: RuleEnd): TableRule {
  return { matches, end, comment: "" };
}

function ruleFor({ name, kind, family }: NamedSet, side: Side): TableRule {
  return toEnd([{ kind: "set", side, set: name, of: kind, family }], accept);
}

/** The matches of a port; none for a name that no container of the pod has. */
function portMatches({ protocol, port }: PolicyPort, named: readonly NamedPort[]): readonly (readonly Match[])[] {
  const ofProtocol: Match = { kind: "protocol", protocol: protocolNumbers[protocol] };
  if (port === undefined) return [[ofProtocol]];
  if ("first" in port) return [[ofProtocol, { kind: "port", side: "destination", ...port }]];
  const numbers = named.filter((each) => each.name === port.name && each.protocol === protocol).map((each) => each.port);
  return [...new Set(numbers)].map((number) => [ofProtocol, { kind: "port", side: "destination", first: number, last: number }]);
}

function podSets({ peers }: PolicyRule, chain: string, found: readonly Peer[], families: readonly Family[]): readonly NamedSet[] {
  if (!peers.some(({ kind }) => kind === "pods")) return [];
  const addresses = found.flatMap((peer) => peer.addresses);
  return families.map((family) => {
    const elements = addresses.filter((each) => each.family === family).map(formatAddress);
    return namedSet(`${chain}/pods${family}`, "address", family, elements);
  });
}

function rangeSets({ peers }: PolicyRule, chain: string): readonly NamedSet[] {
  const blocks = peers.flatMap((peer) => (peer.kind === "block" ? [peer.block] : []));
  return ([4, 6] as const)
    .map((family) => {
      const ranges = blockRanges(blocks, family).map(
        ({ first, last }) => `${formatAddress({ family, value: first })}-${formatAddress({ family, value: last })}`,
      );
      return namedSet(`${chain}/blocks${family}`, "range", family, ranges);
    })
    .filter(({ elements }) => elements.size > 0);
}

function peerPorts(name: string, family: Family, ports: readonly PolicyPort[], found: readonly Peer[]): NamedSet {
  const elements = found.flatMap((peer) => {
    const numbers = peerNumbers(peer, ports);
    const addresses = peer.addresses.filter((each) => each.family === family).map(formatAddress);
    return addresses.flatMap((address) => numbers.map(({ protocol, port }) => `${address} ${protocolNumbers[protocol]} ${port}`));
  });
  return namedSet(name, "port", family, elements);
}

/** The peer's numbers of the named ports of a rule. */
function peerNumbers(peer: Peer, ports: readonly PolicyPort[]): readonly NamedPort[] {
  return peer.ports.filter((each) =>
    ports.some(
      ({ protocol, port }) => port !== undefined && "name" in port && port.name === each.name && protocol === each.protocol,
    ),
  );
}

function namedSet(name: string, kind: SetKind, family: Family, elements: readonly string[]): NamedSet {
  return { name, kind, family, elements: new Set(elements) };
}
