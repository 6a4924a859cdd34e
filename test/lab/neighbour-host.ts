// Another host on the wire of a stage's networks, which has addresses that IPAM would give to pods.

import { createPodNamespace, type PodNamespace } from "./namespaces.ts";

/** The host. */
export interface NeighbourHost {
  /** Its link-layer address. */
  readonly mac: string;
  /** Gives it an address, with prefix length. */
  readonly has: (address: string) => void;
  readonly dispose: () => void;
}

const ip = (where: PodNamespace, ...args: string[]): void => {
  const { status, stderr } = where.exec(["ip", ...args]);
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr}`);
};

/** Connects a host to the node by a veth; the node's end is `link`, which becomes a port of `bridge`, if there is one. */
export function connectNeighbour(node: PodNamespace, link: string, bridge?: string): NeighbourHost {
  const host = createPodNamespace("other");
  const mac = "02:00:00:00:00:77";
  if (bridge !== undefined) ip(node, "link", "add", bridge, "up", "type", "bridge");
  ip(node, "link", "add", link, "up", "type", "veth", "peer", "name", "eth0", "netns", host.name);
  if (bridge !== undefined) ip(node, "link", "set", link, "master", bridge);
  ip(host, "link", "set", "eth0", "address", mac, "up");
  return {
    mac,
    has: (address) => ip(host, "address", "add", address, "dev", "eth0", ...(address.includes(":") ? ["nodad"] : [])),
    dispose: () => host.dispose(),
  };
}
