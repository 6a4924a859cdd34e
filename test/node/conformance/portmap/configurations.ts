// Configurations of portmap for the native plugin and the delegate, each with different host ports, so that all of them can
// be active at once.

import { addresses, type PlacedProbe } from "./world.ts";

export interface Configuration {
  readonly containerId: string;
  /** The case that the configuration tests. */
  readonly about: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly probes: readonly PlacedProbe[];
}

type Protocol = "tcp" | "udp";

/** Ports that the pod answers on. */
export const podPorts = { tcp: [80, 81], udp: [53, 54] } as const;

const families = { v4: [0], v6: [1], dual: [0, 1] } as const;
const hostIps = {
  none: undefined,
  "an IPv4 address": "192.0.2.1",
  loopback: "127.0.0.1",
  "0.0.0.0": "0.0.0.0",
  "an IPv6 address": "2001:db8::1",
} as const;
const snats = { default: {}, on: { snat: true, markMasqBit: 7 }, off: { snat: false } } as const;
const shapes: Readonly<Record<string, readonly Protocol[]>> = { tcp: ["tcp"], udp: ["udp"], both: ["tcp", "udp"] };

/** Conditions, as arguments of iptables, that the delegate supports, with the mapping's hostIP. */
const conditions = [
  { conditionsV4: ["-d", "192.0.2.1"] },
  { conditionsV4: ["--destination", "192.0.2.1/32"], conditionsV6: ["--dst", "2001:db8::1"] },
  { conditionsV4: ["-d", "192.0.2.1"], hostIP: "192.0.2.1" },
  { conditionsV4: ["-d", "192.0.2.1"], hostIP: "192.0.2.3" },
  { conditionsV4: ["!", "-d", "192.0.2.1"], conditionsV6: ["!", "-d", "2001:db8::1/128"] },
  { conditionsV4: ["!", "-s", "192.0.2.0/24"], conditionsV6: ["!", "--source", "fd00:1::/64"] },
  { conditionsV4: ["-d", "192.0.2.0/31", "!", "--src", "10.1.0.6"], conditionsV6: ["--dst", "fd00::/15"] },
] as const;

/** All configurations: 3 values of snat, 5 of hostIP, 3 kinds of pods, 3 sets of protocols; and conditions. */
export function configurations(network = "pods"): readonly Configuration[] {
  const all: Configuration[] = [];
  let port = 10_000;
  const add = (
    about: string,
    settings: object,
    { protocols, hostIP, indexes }: { protocols: readonly Protocol[]; hostIP: string | undefined; indexes: readonly (0 | 1)[] },
  ): void => {
    const mappings = protocols.map((protocol, index) => ({
      hostPort: ++port,
      containerPort: podPorts[protocol][index % 2] ?? 0,
      protocol,
      ...(hostIP === undefined ? {} : { hostIP }),
    }));
    all.push({
      containerId: `container-${all.length}`,
      about,
      config: {
        cniVersion: "1.0.0",
        name: network,
        type: "portmap",
        ...settings,
        runtimeConfig: { portMappings: mappings },
        prevResult: previous(indexes.map((index) => addresses.pod[index])),
      },
      probes: mappings.flatMap(({ protocol, hostPort }) => probesOf(protocol, hostPort)),
    });
  };
  for (const [snat, settings] of Object.entries(snats))
    for (const [where, hostIP] of Object.entries(hostIps))
      for (const [pod, indexes] of Object.entries(families))
        for (const [shape, protocols] of Object.entries(shapes))
          add(`${shape}, ${pod} pod, hostIP: ${where}, snat: ${snat}`, settings, { protocols, hostIP, indexes });
  for (const [number, { hostIP, ...settings }] of conditions.map((each) => ({ hostIP: undefined, ...each })).entries())
    add(`conditions ${number}`, settings, { protocols: number === 1 ? ["tcp", "udp"] : ["tcp"], hostIP, indexes: families.dual });
  return all;
}

function previous(ips: readonly string[]): object {
  return {
    cniVersion: "1.0.0",
    interfaces: [{ name: "br0" }, { name: "eth0", sandbox: "/run/netns/pod" }],
    ips: ips.map((address) => ({ address, interface: 1 })),
  };
}

/** The places from which each host port is probed, and the addresses. */
const vantages = [
  ["outside", "192.0.2.1"],
  ["outside", "192.0.2.3"],
  ["outside", "2001:db8::1"],
  ["outside", "2001:db8::3"],
  ["node", "127.0.0.1"],
  ["node", "192.0.2.1"],
  ["node", "::1"],
  ["node", "2001:db8::1"],
  ["pod", "192.0.2.1"],
  ["pod", "fd00:1::1"],
  ["pod", "2001:db8::1"],
  ["neighbour", "10.1.0.1"],
  ["neighbour", "192.0.2.1"],
  ["neighbour", "2001:db8::1"],
] as const;

function probesOf(protocol: Protocol, port: number): readonly PlacedProbe[] {
  return vantages.map(([from, address]) => ({ from, protocol, address, port }));
}
