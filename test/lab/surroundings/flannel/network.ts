// flannel as the default network of a node: its daemon with the Kubernetes datastore, and its plugin, which delegates to `bridge` and `host-local`.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { endDaemon, rolledOut } from "../daemon-set.ts";
import type { DefaultNetwork } from "../default-network.ts";
import { hostLocalAddresses, nodeSubnets } from "../node-subnets.ts";
import { toolLinks } from "../node-tools.ts";
import { importPrograms } from "../programs-image.ts";
import { flannelDaemon, flannelFile, flannelObjects } from "./objects.ts";
import { flannelPlugin, flannelPrograms } from "./programs.ts";

const repository = "plexus.invalid/flannel";

export const flannel: DefaultNetwork = {
  title: "flannel",
  requirements: [flannelPrograms.requirement, flannelPlugin.requirement],
  plugins: ["portmap"],
  list: { file: flannelFile, steps: ["flannel", "portmap"] },
  daemon: flannelDaemon,
  addresses: /^10\.244\.0\.\d+$/u,
  links: "veth",
  async prepare(cluster) {
    const programs = {
      "/opt/bin/flannel": flannelPrograms.path("flannel"),
      "/opt/bin/install_conf": flannelPrograms.path("install_conf"),
      "/flannel": flannelPlugin.path("flannel"),
    };
    for (const tag of ["v1", "v2"]) importPrograms(cluster.nodes, { name: `${repository}:${tag}`, programs, links: toolLinks });
    await nodeSubnets(cluster);
  },
  async deploy(cluster, tag) {
    await cluster.apply(...flannelObjects(`${repository}:${tag}`));
    await rolledOut(cluster, flannelDaemon);
  },
  /** The manifest's deletion leaves the list, the plugin and the daemon's file in /run. An administrator removes them. */
  async remove(cluster) {
    await endDaemon(cluster, flannelDaemon);
    for (const { disk, on } of cluster.nodes) {
      rmSync(join(disk, "etc", "cni", "net.d", flannelFile));
      rmSync(join(disk, "opt", "cni", "bin", "flannel"));
      rmSync(on("/run/flannel/subnet.env"));
    }
  },
  allocated: async (_, node) => hostLocalAddresses(join(node.disk, "var", "lib", "cni", "networks", "cbr0")),
};
