// Cilium as the default network of a node: its agent with its own BPF programs, and its CNI plugin, chained with the reference plugin `portmap`.

import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Cluster } from "../../cluster/cluster.ts";
import { endDaemon, rolledOut } from "../daemon-set.ts";
import type { DefaultNetwork } from "../default-network.ts";
import { ipsetFiles, ipsetRequirement } from "../ipset.ts";
import { nodeSubnets } from "../node-subnets.ts";
import { toolLinks } from "../node-tools.ts";
import { importPrograms } from "../programs-image.ts";
import { ciliumDaemon, ciliumFile, ciliumObjects } from "./objects.ts";
import { agentFiles, ciliumPrograms, clangRequirement, command } from "./programs.ts";

const repository = "plexus.invalid/cilium";

export const cilium: DefaultNetwork = {
  title: "Cilium",
  requirements: [ciliumPrograms.requirement, clangRequirement, ipsetRequirement(command)],
  plugins: ["portmap"],
  list: { file: ciliumFile, steps: ["cilium-cni", "portmap"] },
  daemon: ciliumDaemon,
  addresses: /^10\.244\.0\.\d+$/u,
  links: "lxc",
  async prepare(cluster) {
    const programs = { ...agentFiles(), ...ipsetFiles() };
    for (const tag of ["v1", "v2"]) importPrograms(cluster.nodes, { name: `${repository}:${tag}`, programs, links: toolLinks });
    await applyDefinitions(cluster);
    await nodeSubnets(cluster);
  },
  async deploy(cluster, tag) {
    await cluster.apply(...ciliumObjects(`${repository}:${tag}`));
    await rolledOut(cluster, ciliumDaemon);
  },
  /** Removes what `cni.uninstall` of the chart removes, and the plugin. */
  async remove(cluster) {
    await endDaemon(cluster, ciliumDaemon);
    for (const { disk } of cluster.nodes) {
      rmSync(join(disk, "etc", "cni", "net.d", ciliumFile));
      rmSync(join(disk, "opt", "cni", "bin", "cilium-cni"));
    }
  },
  /** Counts the endpoints of pods. */
  async allocated(cluster) {
    const text = await cluster.succeed("get", "ciliumendpoints.cilium.io", "--all-namespaces", "-o", "json");
    const { items }: { items: unknown[] } = JSON.parse(text);
    return items.length;
  },
};

/** Applies the CustomResourceDefinitions, as the operator does. */
async function applyDefinitions(cluster: Cluster): Promise<void> {
  const definitions = ["v2", "v2alpha1"].flatMap((version) => {
    const directory = ciliumPrograms.path(version) ?? "";
    const files = readdirSync(directory).filter((name) => name.endsWith(".yaml"));
    return files.map((name) => readFileSync(join(directory, name), "utf8"));
  });
  await cluster.apply(definitions.join("\n---\n"));
  await cluster.succeed("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all");
}
