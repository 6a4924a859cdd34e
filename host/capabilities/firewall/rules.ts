// What one attachment has of the firewall, for one family of addresses: rules in chains of its own, and the elements of maps that lead to
// them. No I/O.

import { type Cidr, formatAddress, formatCidr, type IpAddress, readAddress, readCidr } from "../../src/net/ip.ts";
import { concat } from "../netlink/bytes.ts";
import { u16be } from "./big-endian.ts";
import {
  addressBytes,
  addressIn,
  changeDestination,
  destinationPortIs,
  type Expression,
  masquerade,
  originalAddressIs,
  originalPortIs,
  protocolIs,
} from "./expressions.ts";
import type { Purpose } from "./owner.ts";

export type Protocol = "tcp" | "udp" | "sctp";
export type Masquerading = "none" | "local" | "all";

/** What comes from this address and leaves its network, multicast excepted, gets the node's address. */
export interface Masquerade {
  readonly address: Cidr;
}

export interface PortMapping {
  readonly protocol: Protocol;
  /** Undefined: any address of the node. */
  readonly hostAddress: IpAddress | undefined;
  readonly hostPort: number;
  /** With the prefix of its network. */
  readonly pod: Cidr;
  readonly podPort: number;
  readonly masquerading: Masquerading;
}

export interface Rules {
  readonly masquerades: readonly Masquerade[];
  readonly portMappings: readonly PortMapping[];
}

export interface Rule {
  readonly expressions: readonly Expression[];
  /** What it stands for; `mappingIn` and `masqueradeIn` read it. */
  readonly comment: string;
}

/** How packets come to an attachment's chains: an element of this map leads to the chain for this purpose; undefined: to none. */
export interface Entry {
  readonly map: "hostports" | "hostports-at" | "answers" | "sources";
  readonly key: Uint8Array;
  readonly purpose: Purpose | undefined;
  /** The address in the key; undefined for any of the node's. */
  readonly address: IpAddress | undefined;
  /** In words, for messages. */
  readonly what: string;
}

export const protocolNumbers: Readonly<Record<Protocol, number>> = { tcp: 6, udp: 17, sctp: 132 };
const multicast = { 4: readCidr("224.0.0.0/4"), 6: readCidr("ff00::/8") } as const;
const localhost = readAddress("127.0.0.1");
/** Ends the comment of a rule whose address is in the map for another attachment. */
const CROWDED = "(address shared)";

/** The rules of the families' own. */
export function ofFamily(rules: Rules, family: 4 | 6): Rules {
  return {
    masquerades: rules.masquerades.filter(({ address }) => address.address.family === family),
    portMappings: rules.portMappings.filter(({ pod }) => pod.address.family === family),
  };
}

/**
 * The rules of each chain, in order. A chain without rules is left out. `crowded`: addresses that another attachment has in the map as
 * well; a rule's comment says so, and then does not say where what leads to it is.
 */
export function chainRules(
  { masquerades, portMappings }: Rules,
  crowded: (entry: Entry) => boolean = () => false,
): ReadonlyMap<Purpose, readonly Rule[]> {
  const told = (rule: Rule, map: "answers" | "sources", address: IpAddress): Rule =>
    crowded(addressEntry(map, address)) ? { ...rule, comment: `${rule.comment} ${CROWDED}` } : rule;
  const all: readonly (readonly [Purpose, readonly Rule[]])[] = [
    ["ports", portMappings.map((mapping) => told(portRule(mapping), "answers", mapping.pod.address))],
    ["answers", portMappings.flatMap(answerRules)],
    ["source", masquerades.flatMap((each) => sourceRules(each).map((rule) => told(rule, "sources", each.address.address)))],
  ];
  return new Map(all.filter(([, rules]) => rules.length > 0));
}

function portRule(mapping: PortMapping): Rule {
  const { protocol, hostAddress, hostPort, pod, podPort } = mapping;
  return {
    expressions: [
      ...protocolIs(protocolNumbers[protocol]),
      ...destinationPortIs(hostPort),
      ...(hostAddress === undefined ? [] : addressIn("destination", "is", hostAddress)),
      ...changeDestination(pod.address, podPort),
    ],
    comment: mappingText(mapping),
  };
}

/**
 * Without them the pod would answer its neighbours directly, past the node, from an address that they never asked, and the node's own
 * 127.0.0.1 could not be answered at all.
 */
function answerRules(mapping: PortMapping): Rule[] {
  const { protocol, hostAddress, hostPort, pod, masquerading } = mapping;
  const ours = [
    ...protocolIs(protocolNumbers[protocol]),
    ...originalPortIs(hostPort),
    ...(hostAddress === undefined ? [] : originalAddressIs(hostAddress)),
    ...addressIn("destination", "is", pod.address),
  ];
  const from = (source: readonly Expression[]): Rule => ({ expressions: [...ours, ...source, masquerade()], comment: "" });
  if (masquerading === "none") return [];
  if (masquerading === "all") return [from([])];
  const neighbours = from(addressIn("source", "is", pod.address, pod.prefix));
  return pod.address.family === 4 && localhost !== undefined
    ? [neighbours, from(addressIn("source", "is", localhost))]
    : [neighbours];
}

function sourceRules({ address: { address, prefix } }: Masquerade): Rule[] {
  const many = multicast[address.family];
  if (many === undefined) return [];
  const expressions = [
    ...addressIn("source", "is", address),
    ...addressIn("destination", "is not", address, prefix),
    ...addressIn("destination", "is not", many.address, many.prefix),
    masquerade(),
  ];
  return [{ expressions, comment: formatCidr({ address, prefix }) }];
}

/** What leads packets to the chains. */
export function entries({ masquerades, portMappings }: Rules): readonly Entry[] {
  const found = new Map<string, Entry>();
  const add = (entry: Entry): void => void found.set(`${entry.map} ${entry.key.join(".")}`, entry);
  for (const mapping of portMappings) {
    const { hostAddress, pod, masquerading } = mapping;
    const key = portKey(mapping);
    const at = hostAddress !== undefined;
    add({ map: at ? "hostports-at" : "hostports", key, purpose: "ports", address: hostAddress, what: portInWords(mapping) });
    if (masquerading !== "none") add(addressEntry("answers", pod.address));
  }
  for (const { address } of masquerades) add(addressEntry("sources", address.address));
  return [...found.values()];
}

function addressEntry(map: "answers" | "sources", address: IpAddress): Entry {
  const purpose = map === "answers" ? "answers" : "source";
  return { map, key: addressBytes(address), purpose, address, what: formatAddress(address) };
}

/** The key of `hostports`: protocol and port, each in four bytes; of `hostports-at`: with the address before them. */
export function portKey({ protocol, hostAddress, hostPort }: Omit<PortMapping, "pod">): Uint8Array {
  const port = concat([Uint8Array.of(protocolNumbers[protocol], 0, 0, 0), u16be(hostPort), new Uint8Array(2)]);
  return hostAddress === undefined ? port : concat([addressBytes(hostAddress), port]);
}

/** Protocol and port of a key of `hostports-at`: what a key of `hostports` is. */
export function portPart(key: Uint8Array): Uint8Array {
  return key.subarray(-8);
}

export function portInWords({ protocol, hostAddress, hostPort }: Omit<PortMapping, "pod">): string {
  return `host port ${hostPort}/${protocol}${hostAddress === undefined ? "" : ` of ${formatAddress(hostAddress)}`}`;
}

function mappingText({ protocol, hostAddress, hostPort, pod, podPort, masquerading }: PortMapping): string {
  const host = hostAddress === undefined ? "any" : formatAddress(hostAddress);
  return `${protocol} ${host} ${hostPort} to ${formatCidr(pod)} ${podPort} masquerading ${masquerading}`;
}

/** The mapping that a rule's comment names; undefined where it isn't ours, or its address is shared. */
export function mappingIn(comment: string): PortMapping | undefined {
  const [protocol, host = "", hostPort, , podText = "", podPort, , masquerading, ...more] = comment.split(" ");
  if (more.length > 0) return undefined;
  const pod = readCidr(podText);
  const hostAddress = host === "any" ? undefined : readAddress(host);
  if (pod === undefined || (host !== "any" && hostAddress === undefined)) return undefined;
  if (protocol !== "tcp" && protocol !== "udp" && protocol !== "sctp") return undefined;
  if (masquerading !== "none" && masquerading !== "local" && masquerading !== "all") return undefined;
  return { protocol, hostAddress, hostPort: Number(hostPort), pod, podPort: Number(podPort), masquerading };
}

/** The masquerade that a rule's comment names; undefined where it isn't ours, or its address is shared. */
export function masqueradeIn(comment: string): Masquerade | undefined {
  const address = readCidr(comment);
  return address === undefined ? undefined : { address };
}
