// Configurations of portmap that both plugins take, each with ports of its own, so that all of them are in force at once.

import { addresses, type PlacedProbe } from "./world.ts";

export interface Configuration {
  readonly containerId: string;
  /** What it shows. */
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
  "one of v4": "192.0.2.1",
  loopback: "127.0.0.1",
  "zeros of v4": "0.0.0.0",
  "one of v6": "2001:db8::1",
} as const;
const snats = { default: {}, on: { snat: true, markMasqBit: 7 }, off: { snat: false } } as const;
const shapes: Readonly<Record<string, readonly Protocol[]>> = { tcp: ["tcp"], udp: ["udp"], both: ["tcp", "udp"] };

/** All of them: 3 ways to masquerade, 5 addresses, 3 kinds of pods, 3 kinds of mappings. */
export function configurations(network = "pods"): readonly Configuration[] {
  const all: Configuration[] = [];
  let port = 10_000;
  for (const [snat, settings] of Object.entries(snats))
    for (const [where, hostIP] of Object.entries(hostIps))
      for (const [pod, indexes] of Object.entries(families))
        for (const [shape, protocols] of Object.entries(shapes)) {
          const mappings = protocols.map((protocol, index) => ({
            hostPort: ++port,
            containerPort: podPorts[protocol][index % 2] ?? 0,
            protocol,
            ...(hostIP === undefined ? {} : { hostIP }),
          }));
          all.push({
            containerId: `container-${all.length}`,
            about: `${shape}, a pod of ${pod}, hostIP: ${where}, snat: ${snat}`,
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
        }
  return all;
}

function previous(ips: readonly string[]): object {
  return {
    cniVersion: "1.0.0",
    interfaces: [{ name: "br0" }, { name: "eth0", sandbox: "/run/netns/pod" }],
    ips: ips.map((address) => ({ address, interface: 1 })),
  };
}

/** By which addresses a port of the node is asked, from where. */
const asked = [
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

export function probesOf(protocol: Protocol, port: number): readonly PlacedProbe[] {
  return asked.map(([from, address]) => ({ from, protocol, address, port }));
}
