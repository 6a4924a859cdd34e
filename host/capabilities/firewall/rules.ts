// The rules of one attachment for one address family: rules in the attachment's chains, and the map elements that lead to those. No I/O.

import { formatAddress, formatCidr, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import { concat } from "../../system/netlink/bytes.ts";
import { numberIn, u16be } from "./big-endian.ts";
import type { Expression } from "./expressions.ts";
import { changeDestination, masquerade } from "./nat-expressions.ts";
import { originalAddressIn, originalPortIs } from "./connection-expressions.ts";
import { addressIn, destinationPortIs, protocolIs } from "./match-expressions.ts";
import { addressBytes, addressOf } from "./packet-values.ts";
import type { Purpose } from "./owner.ts";
import type { Masquerade, PortMapping, Protocol } from "./mappings.ts";
import { mappingText, withSharedAddress } from "./rule-comments.ts";

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

/** The place of an element: a map, and a key of it. */
export interface EntryKey {
  readonly map: "hostports" | "hostports-at" | "answers" | "sources";
  readonly key: Uint8Array;
}

/** A map element that leads packets to an attachment's chain for this purpose; undefined: to none, the element only marks a port as used. */
export interface Entry extends EntryKey {
  readonly purpose: Purpose | undefined;
  /** The address in the key; undefined where the key has none (any address of the node). */
  readonly address: IpAddress | undefined;
  /** The address or the port, for messages. */
  readonly text: string;
}

export const protocolNumbers: Readonly<Record<Protocol, number>> = { tcp: 6, udp: 17, sctp: 132 };
const multicast = { 4: readCidr("224.0.0.0/4"), 6: readCidr("ff00::/8") } as const;
const localhost = readAddress("127.0.0.1");

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
    isShared(addressEntry(map, address)) ? { ...rule, comment: withSharedAddress(rule.comment) } : rule;
  const all: readonly (readonly [Purpose, readonly Rule[]])[] = [
    ["ports", portMappings.map((mapping) => marked(portRule(mapping), "answers", mapping.pod.address))],
    ["answers", portMappings.flatMap(answerRules)],
    ["source", masquerades.flatMap((each) => sourceRules(each).map((rule) => marked(rule, "sources", each.address.address)))],
  ];
  return new Map(all.filter(([, rules]) => rules.length > 0));
}

function portRule(mapping: PortMapping): Rule {
  const { protocol, hostAddress, hostPort, pod, podPort, conditions } = mapping;
  return {
    expressions: [
      ...protocolIs(protocolNumbers[protocol]),
      ...destinationPortIs(hostPort),
      ...(hostAddress === undefined ? [] : addressIn("destination", "is", hostAddress)),
      ...conditions.flatMap(({ which, operation, network }) => addressIn(which, operation, network.address, network.prefix)),
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
  const { protocol, hostAddress, hostPort, pod, masquerading, conditions } = mapping;
  const throughMapping = [
    ...protocolIs(protocolNumbers[protocol]),
    ...originalPortIs(hostPort),
    ...(hostAddress === undefined ? [] : originalAddressIn("destination", "is", hostAddress)),
    ...conditions.flatMap(({ which, operation, network }) =>
      originalAddressIn(which, operation, network.address, network.prefix),
    ),
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

/** A port of the node, at all of its addresses or at one. */
type MappedPort = Pick<PortMapping, "protocol" | "hostAddress" | "hostPort">;

/** The key of a port in `hostports`: protocol and port, each in four bytes. In `hostports-at` the host address precedes them. */
export function portKey({ protocol, hostAddress, hostPort }: MappedPort): Uint8Array {
  const port = concat([Uint8Array.of(protocolNumbers[protocol], 0, 0, 0), u16be(hostPort), new Uint8Array(2)]);
  return hostAddress === undefined ? port : concat([addressBytes(hostAddress), port]);
}

/** The part of a `hostports-at` key after the address: the port's key in `hostports`. */
export function portPart(key: Uint8Array): Uint8Array {
  return key.subarray(-8);
}

/** A mapped port for messages: `host port 8080/tcp of 192.0.2.1`. */
export function portText({ protocol, hostAddress, hostPort }: MappedPort): string {
  return `host port ${hostPort}/${protocol}${hostAddress === undefined ? "" : ` of ${formatAddress(hostAddress)}`}`;
}

/** A key of `hostports` or `hostports-at` as text: `tcp any 8080`, `tcp 192.0.2.1 8080`. */
export function portKeyText(key: Uint8Array): string {
  const [number] = portPart(key);
  const protocol = (["tcp", "udp", "sctp"] as const).find((name) => protocolNumbers[name] === number) ?? "";
  const address = key.subarray(0, -8);
  const at = address.length === 0 ? "any" : formatAddress(addressOf(address));
  return `${protocol} ${at} ${numberIn(key.subarray(-4, -2))}`;
}

/** The key in such a text; undefined where the text is another. */
export function readPortKey(text: string): Uint8Array | undefined {
  const [, protocol, at = "", digits] = /^(tcp|udp|sctp) (\S+) (\d{1,5})$/.exec(text) ?? [];
  const hostAddress = at === "any" ? undefined : readAddress(at);
  if (protocol !== "tcp" && protocol !== "udp" && protocol !== "sctp") return undefined;
  return at !== "any" && hostAddress === undefined ? undefined : portKey({ protocol, hostAddress, hostPort: Number(digits) });
}
