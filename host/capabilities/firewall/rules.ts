// The rules of one attachment for one address family: rules in the attachment's chains, and the map elements that lead to those. No I/O.

import { type Cidr, formatAddress, formatCidr, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import { concat } from "../../system/netlink/bytes.ts";
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

/** A protocol with ports that can be mapped. */
export type Protocol = "tcp" | "udp" | "sctp";
/** Connections to the port that get the node's address as their source: none, those from the pod's network and 127.0.0.1, or all. */
export type Masquerading = "none" | "local" | "all";

/** Packets from this address to outside of its network, except multicast, get the node's address as their source. */
export interface Masquerade {
  readonly address: Cidr;
}

/** A port of the node that leads to a port of the pod. */
export interface PortMapping {
  readonly protocol: Protocol;
  /** Undefined: any address of the node. */
  readonly hostAddress: IpAddress | undefined;
  readonly hostPort: number;
  /** The pod's address with the prefix length of its network. */
  readonly pod: Cidr;
  readonly podPort: number;
  readonly masquerading: Masquerading;
}

/** The rules of one attachment. */
export interface Rules {
  readonly masquerades: readonly Masquerade[];
  readonly portMappings: readonly PortMapping[];
}

/** One nftables rule. */
export interface Rule {
  readonly expressions: readonly Expression[];
  /** The mapping or masquerade as text; `mappingIn` and `masqueradeIn` parse it. */
  readonly comment: string;
}

/** A map element that leads packets to an attachment's chain for this purpose; undefined: to none, the element only marks a port as used. */
export interface Entry {
  readonly map: "hostports" | "hostports-at" | "answers" | "sources";
  readonly key: Uint8Array;
  readonly purpose: Purpose | undefined;
  /** The address in the key; undefined where the key has none (any address of the node). */
  readonly address: IpAddress | undefined;
  /** The address or the port, for messages. */
  readonly text: string;
}

export const protocolNumbers: Readonly<Record<Protocol, number>> = { tcp: 6, udp: 17, sctp: 132 };
const multicast = { 4: readCidr("224.0.0.0/4"), 6: readCidr("ff00::/8") } as const;
const localhost = readAddress("127.0.0.1");
/** The end of a rule's comment where the map's element of its address belongs to another attachment. */
const SHARED_ADDRESS = "(address shared)";

/** The rules for one address family. */
export function ofFamily(rules: Rules, family: 4 | 6): Rules {
  return {
    masquerades: rules.masquerades.filter(({ address }) => address.address.family === family),
    portMappings: rules.portMappings.filter(({ pod }) => pod.address.family === family),
  };
}

/**
 * The rules of each chain, in order; a chain without rules is left out. `isShared`: whether another attachment has the map's element of an
 * address. The rule's comment marks that, because the map then has no element that leads to the rule's chain.
 */
export function chainRules(
  { masquerades, portMappings }: Rules,
  isShared: (entry: Entry) => boolean = () => false,
): ReadonlyMap<Purpose, readonly Rule[]> {
  const marked = (rule: Rule, map: "answers" | "sources", address: IpAddress): Rule =>
    isShared(addressEntry(map, address)) ? { ...rule, comment: `${rule.comment} ${SHARED_ADDRESS}` } : rule;
  const all: readonly (readonly [Purpose, readonly Rule[]])[] = [
    ["ports", portMappings.map((mapping) => marked(portRule(mapping), "answers", mapping.pod.address))],
    ["answers", portMappings.flatMap(answerRules)],
    ["source", masquerades.flatMap((each) => sourceRules(each).map((rule) => marked(rule, "sources", each.address.address)))],
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
 * Masquerades connections through a mapping. Without it the pod would answer its neighbours directly, bypassing the node, from an address
 * that they did not connect to. It could not answer the node's 127.0.0.1 at all.
 */
function answerRules(mapping: PortMapping): Rule[] {
  const { protocol, hostAddress, hostPort, pod, masquerading } = mapping;
  const throughMapping = [
    ...protocolIs(protocolNumbers[protocol]),
    ...originalPortIs(hostPort),
    ...(hostAddress === undefined ? [] : originalAddressIs(hostAddress)),
    ...addressIn("destination", "is", pod.address),
  ];
  const from = (source: readonly Expression[]): Rule => ({
    expressions: [...throughMapping, ...source, masquerade()],
    comment: "",
  });
  if (masquerading === "none") return [];
  if (masquerading === "all") return [from([])];
  const neighbours = from(addressIn("source", "is", pod.address, pod.prefix));
  return pod.address.family === 4 && localhost !== undefined
    ? [neighbours, from(addressIn("source", "is", localhost))]
    : [neighbours];
}

function sourceRules({ address: { address, prefix } }: Masquerade): Rule[] {
  const multicastNetwork = multicast[address.family];
  if (multicastNetwork === undefined) return [];
  const expressions = [
    ...addressIn("source", "is", address),
    ...addressIn("destination", "is not", address, prefix),
    ...addressIn("destination", "is not", multicastNetwork.address, multicastNetwork.prefix),
    masquerade(),
  ];
  return [{ expressions, comment: formatCidr({ address, prefix }) }];
}

/** The map elements that lead packets to the chains. */
export function entries({ masquerades, portMappings }: Rules): readonly Entry[] {
  const found = new Map<string, Entry>();
  const add = (entry: Entry): void => void found.set(`${entry.map} ${entry.key.join(".")}`, entry);
  for (const mapping of portMappings) {
    const { hostAddress, pod, masquerading } = mapping;
    const key = portKey(mapping);
    const map = hostAddress === undefined ? "hostports" : "hostports-at";
    add({ map, key, purpose: "ports", address: hostAddress, text: portText(mapping) });
    if (masquerading !== "none") add(addressEntry("answers", pod.address));
  }
  for (const { address } of masquerades) add(addressEntry("sources", address.address));
  return [...found.values()];
}

function addressEntry(map: "answers" | "sources", address: IpAddress): Entry {
  const purpose = map === "answers" ? "answers" : "source";
  return { map, key: addressBytes(address), purpose, address, text: formatAddress(address) };
}

/** The key of a port in `hostports`: protocol and port, each in four bytes. In `hostports-at` the host address precedes them. */
function portKey({ protocol, hostAddress, hostPort }: Omit<PortMapping, "pod">): Uint8Array {
  const port = concat([Uint8Array.of(protocolNumbers[protocol], 0, 0, 0), u16be(hostPort), new Uint8Array(2)]);
  return hostAddress === undefined ? port : concat([addressBytes(hostAddress), port]);
}

/** The part of a `hostports-at` key after the address: the port's key in `hostports`. */
export function portPart(key: Uint8Array): Uint8Array {
  return key.subarray(-8);
}

/** A mapped port for messages: `host port 8080/tcp of 192.0.2.1`. */
export function portText({ protocol, hostAddress, hostPort }: Omit<PortMapping, "pod">): string {
  return `host port ${hostPort}/${protocol}${hostAddress === undefined ? "" : ` of ${formatAddress(hostAddress)}`}`;
}

function mappingText({ protocol, hostAddress, hostPort, pod, podPort, masquerading }: PortMapping): string {
  const host = hostAddress === undefined ? "any" : formatAddress(hostAddress);
  return `${protocol} ${host} ${hostPort} to ${formatCidr(pod)} ${podPort} masquerading ${masquerading}`;
}

/** The mapping in a rule's comment; undefined where the comment is not from Plexus, or marks a shared address. */
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

/** The masquerade in a rule's comment; undefined where the comment is not from Plexus, or marks a shared address. */
export function masqueradeIn(comment: string): Masquerade | undefined {
  const address = readCidr(comment);
  return address === undefined ? undefined : { address };
}
