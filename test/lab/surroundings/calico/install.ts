// Calico's CNI plugin on a cluster, in an image of the module's programs.

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Cluster } from "../../cluster/cluster.ts";
import type { ClusterNode } from "../../cluster/node.ts";
import { writeImage } from "../../oci-image.ts";
import { calicoDaemonSet, calicoObjects } from "./objects.ts";
import { calicoPrograms } from "./programs.ts";

const repository = "plexus.invalid/calico";

/** Imports the image with this tag on nodes. Images with different tags have different digests. */
export function importCalico(nodes: readonly ClusterNode[], tag: string): void {
  const directory = mkdtempSync(join(tmpdir(), "calico-image-"));
  try {
    const output = join(directory, "image.tar");
    const config = { Env: ["PATH=/opt/cni/bin"], Labels: { "org.opencontainers.image.version": tag } };
    writeImage(output, { name: `${repository}:${tag}`, config, fill });
    for (const node of nodes) node.importImage(output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** /opt/cni/bin of Calico's image has the installer and each program that it copies. Portmap and bandwidth are the node's reference plugins. */
function fill(layer: string): void {
  const bin = join(layer, "opt", "cni", "bin");
  for (const path of [bin, join(layer, "etc"), join(layer, "tmp")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(layer, "etc", "passwd"), "root:x:0:0:root:/:/bin/sh\n");
  const programs = [
    ["install", "install"],
    ["calico", "calico"],
    ["calico-ipam", "calico"],
  ] as const;
  for (const [name, source] of programs) {
    copyFileSync(calicoPrograms.path(source) ?? "", join(bin, name));
    chmodSync(join(bin, name), 0o755);
  }
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
  await cluster.succeed("-n", "kube-system", "rollout", "status", `daemonset/${calicoDaemonSet}`, "--timeout=180s");
}

/** Removes the DaemonSet and what its installer wrote on the node, as Calico's guide says. The definitions and their objects stay. */
export async function removeCalico(cluster: Cluster): Promise<void> {
  await cluster.succeed("-n", "kube-system", "delete", `daemonset/${calicoDaemonSet}`, "--cascade=foreground", "--timeout=120s");
  for (const { disk } of cluster.nodes) {
    for (const name of ["10-calico.conflist", "calico-kubeconfig"])
      rmSync(join(disk, "etc", "cni", "net.d", name), { force: true });
    for (const name of ["calico", "calico-ipam"]) rmSync(join(disk, "opt", "cni", "bin", name), { force: true });
  }
}
