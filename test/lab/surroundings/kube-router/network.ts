// kube-router as the default network of a node: its routes and its firewall, and the reference plugins `bridge`, `host-local` and `portmap`.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { endDaemon, rolledOut } from "../daemon-set.ts";
import type { DefaultNetwork } from "../default-network.ts";
import { ipsetFiles, ipsetRequirement } from "../ipset.ts";
import { hostLocalAddresses, nodeSubnets } from "../node-subnets.ts";
import { toolLinks } from "../node-tools.ts";
import { importPrograms } from "../programs-image.ts";
import { kubeRouterDaemon, kubeRouterFile, kubeRouterObjects } from "./objects.ts";
import { command, kubeRouterPrograms } from "./programs.ts";

const repository = "plexus.invalid/kube-router";

export const kubeRouter: DefaultNetwork = {
  title: "kube-router",
  requirements: [kubeRouterPrograms.requirement, ipsetRequirement(command)],
  plugins: ["portmap"],
  list: { file: kubeRouterFile, steps: ["bridge", "portmap"] },
  daemon: kubeRouterDaemon,
  addresses: /^10\.244\.0\.\d+$/u,
  links: "veth",
  async prepare(cluster) {
    // kube-router writes the name of its route table into this file of its image.
    const tables = "/etc/iproute2/rt_tables";
    const programs = { "/opt/bin/kube-router": kubeRouterPrograms.path("kube-router"), [tables]: tables, ...ipsetFiles() };
    for (const tag of ["v1", "v2"]) importPrograms(cluster.nodes, { name: `${repository}:${tag}`, programs, links: toolLinks });
    await nodeSubnets(cluster);
  },
  async deploy(cluster, tag) {
    await cluster.apply(...kubeRouterObjects(`${repository}:${tag}`));
    await rolledOut(cluster, kubeRouterDaemon);
  },
  /** The manifest's deletion leaves the list, which an administrator removes. */
  async remove(cluster) {
    await endDaemon(cluster, kubeRouterDaemon);
    for (const { disk } of cluster.nodes) rmSync(join(disk, "etc", "cni", "net.d", kubeRouterFile));
  },
  allocated: async (_, node) => hostLocalAddresses(join(node.disk, "var", "lib", "cni", "networks", "mynet")),
};
