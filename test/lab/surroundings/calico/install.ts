// Calico's CNI plugin on a cluster, in an image of the module's programs.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Cluster } from "../../cluster/cluster.ts";
import type { ClusterNode } from "../../cluster/node.ts";
import { endDaemon, rolledOut } from "../daemon-set.ts";
import { importPrograms } from "../programs-image.ts";
import { calicoDaemon, calicoObjects } from "./objects.ts";
import { calicoPrograms } from "./programs.ts";

const repository = "plexus.invalid/calico";

/** Imports the image with this tag on nodes. Portmap and bandwidth are the node's reference plugins. */
export function importCalico(nodes: readonly ClusterNode[], tag: string): void {
  const [installer, plugin] = ["install", "calico"].map((name) => calicoPrograms.path(name));
  const bin = "/opt/cni/bin";
  // The installer copies each program that lies beside it.
  const programs = { [`${bin}/install`]: installer, [`${bin}/calico`]: plugin, [`${bin}/calico-ipam`]: plugin };
  importPrograms(nodes, { name: `${repository}:${tag}`, programs });
}

/** Applies Calico's definitions and objects with the image of this tag, and waits for its rollout. */
export async function deployCalico(cluster: Cluster, tag: string): Promise<void> {
  await cluster.apply(readFileSync(calicoPrograms.path("crds.yaml") ?? "", "utf8"));
  await cluster.succeed(
    "wait",
    "--for=condition=Established",
    "--timeout=120s",
    "crd/ippools.crd.projectcalico.org",
    "crd/clusterinformations.crd.projectcalico.org",
  );
  await cluster.apply(...calicoObjects(`${repository}:${tag}`));
  await rolledOut(cluster, calicoDaemon);
}

/** Removes the DaemonSet and what its installer wrote on the node, as Calico's guide says. The definitions and their objects stay. */
export async function removeCalico(cluster: Cluster): Promise<void> {
  await endDaemon(cluster, calicoDaemon);
  for (const { disk } of cluster.nodes) {
    for (const name of ["10-calico.conflist", "calico-kubeconfig"])
      rmSync(join(disk, "etc", "cni", "net.d", name), { force: true });
    for (const name of ["calico", "calico-ipam"]) rmSync(join(disk, "opt", "cni", "bin", name), { force: true });
  }
}
