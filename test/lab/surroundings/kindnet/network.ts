// kindnet, played by a script, as the default network of a node: the reference plugins `ptp`, `host-local` and `portmap`.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { endDaemon, rolledOut } from "../daemon-set.ts";
import type { DefaultNetwork } from "../default-network.ts";
import { hostLocalAddresses } from "../node-subnets.ts";
import { toolLinks } from "../node-tools.ts";
import { importPrograms } from "../programs-image.ts";
import { kindnetDaemon, kindnetFile, kindnetObjects } from "./objects.ts";

const repository = "plexus.invalid/kindnet";

export const kindnet: DefaultNetwork = {
  title: "kindnet",
  requirements: [],
  plugins: ["ptp", "portmap"],
  list: { file: kindnetFile, steps: ["ptp", "portmap"] },
  daemon: kindnetDaemon,
  addresses: /^10\.244\.0\.\d+$/u,
  links: "veth",
  async prepare({ nodes }) {
    for (const tag of ["v1", "v2"]) importPrograms(nodes, { name: `${repository}:${tag}`, programs: {}, links: toolLinks });
  },
  async deploy(cluster, tag) {
    const [{ podSubnet }] = cluster.nodes;
    await cluster.apply(...kindnetObjects(`${repository}:${tag}`, podSubnet));
    await rolledOut(cluster, kindnetDaemon);
  },
  /** The manifest's deletion leaves the list, which an administrator removes. */
  async remove(cluster) {
    await endDaemon(cluster, kindnetDaemon);
    for (const { disk } of cluster.nodes) rmSync(join(disk, "etc", "cni", "net.d", kindnetFile));
  },
  allocated: async (_, node) => hostLocalAddresses(node.on("/run/cni-ipam-state/kindnet")),
};
