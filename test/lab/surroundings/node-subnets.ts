// The subnets of nodes for networks whose daemon reads them from the Node objects, and addresses of the reference plugin host-local.

import { readdirSync } from "node:fs";
import { isIP } from "node:net";

import type { Cluster } from "../cluster/cluster.ts";

/** Gives each node its subnet, as a controller manager with --allocate-node-cidrs does. */
export async function nodeSubnets(cluster: Cluster): Promise<void> {
  for (const { name, podSubnet } of cluster.nodes) {
    await cluster.succeed("wait", "--for=create", "--timeout=120s", `node/${name}`);
    await cluster.succeed("patch", "node", name, "-p", JSON.stringify({ spec: { podCIDR: podSubnet, podCIDRs: [podSubnet] } }));
  }
}

/** The number of addresses that host-local has given to containers. `directory`: the network's data. */
export function hostLocalAddresses(directory: string): number {
  try {
    return readdirSync(directory).filter((name) => isIP(name) !== 0).length;
  } catch {
    return 0;
  }
}
