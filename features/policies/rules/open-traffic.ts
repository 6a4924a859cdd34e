// The packets that stay open whatever the policies say: without them a pod loses its neighbours or its address. Each rule is as narrow as its protocol.

import { readCidr, type Cidr } from "../../../src/net/ip.ts";
import type { Match, TableRule } from "./table.ts";

const UDP = 17;
const ICMP6 = 58;
/** RFC 4861, section 11.2: a packet with this limit was not forwarded by a router. */
const onLink: Match = { kind: "hop-limit", limit: 255 };
/** Message types of RFC 4861 and of multicast listener discovery (RFC 2710, RFC 3810). */
const types = {
  routerSolicitation: [133, 133],
  routerAdvertisement: [134, 134],
  neighbours: [135, 136],
  listenerQuery: [130, 130],
  listenerReport: [131, 132],
  listenerReport2: [143, 143],
} as const;

function icmp6(type: keyof typeof types): readonly Match[] {
  const [first, last] = types[type];
  return [
    { kind: "protocol", protocol: ICMP6 },
    { kind: "icmp-type", first, last },
  ];
}

function udp(source: number, destination: number): readonly Match[] {
  return [
    { kind: "protocol", protocol: UDP },
    { kind: "port", side: "source", first: source, last: source },
    { kind: "port", side: "destination", first: destination, last: destination },
  ];
}

function network(side: "source" | "destination", text: string): readonly Match[] {
  const cidr: Cidr | undefined = readCidr(text);
  return cidr === undefined ? [] : [{ kind: "network", side, network: cidr }];
}

function accept(comment: string, ...matches: readonly Match[]): TableRule {
  return { matches, end: { kind: "accept" }, comment };
}

const linkLocal = network("source", "fe80::/10");
const toLinkLocal = network("destination", "fe80::/10");
const broadcast = network("destination", "255.255.255.255/32");

/**
 * Packets to the pod. A DHCP server's answer is open to the broadcast address only: a client without an address reads others by a packet socket, which no rule of
 * a pod stops, and one with an address has asked before, so that its answer is a reply.
 */
export const openIngress: readonly TableRule[] = [
  accept("neighbour discovery", ...icmp6("neighbours"), onLink),
  accept("router advertisements", ...linkLocal, ...icmp6("routerAdvertisement"), onLink),
  accept("multicast listener discovery", ...linkLocal, ...icmp6("listenerQuery")),
  accept("DHCP", ...broadcast, ...udp(67, 68)),
  accept("DHCPv6", ...linkLocal, ...toLinkLocal, ...udp(547, 546)),
];

/** Packets from the pod. DHCP is open to the broadcast address only: a container may have port 68, and must reach no other host through it. */
export const openEgress: readonly TableRule[] = [
  accept("neighbour discovery", ...icmp6("neighbours"), onLink),
  accept("router solicitations", ...network("destination", "ff02::2/128"), ...icmp6("routerSolicitation"), onLink),
  accept("multicast listener discovery", ...network("destination", "ff02::/16"), ...icmp6("listenerReport")),
  accept("multicast listener discovery", ...network("destination", "ff02::16/128"), ...icmp6("listenerReport2")),
  accept("DHCP", ...broadcast, ...udp(68, 67)),
  accept("DHCPv6", ...linkLocal, ...network("destination", "ff02::1:2/128"), ...udp(546, 547)),
];
