// Istio's CNI node agent on a cluster, in an image of the module's programs.

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import type { Cluster } from "../../cluster/cluster.ts";
import type { ClusterNode } from "../../cluster/node.ts";
import { writeImage } from "../../oci-image.ts";
import { istioDaemonSet, istioNamespace, istioObjects } from "./objects.ts";
import { istioPrograms } from "./programs.ts";

const repository = "plexus.invalid/istio-cni";

/** Imports the image with this tag on nodes. Images with different tags have different digests. */
export function importIstio(nodes: readonly ClusterNode[], tag: string): void {
  const directory = mkdtempSync(join(tmpdir(), "istio-image-"));
  try {
    const output = join(directory, "image.tar");
    const config = { Env: ["PATH=/usr/local/bin"], Labels: { "org.opencontainers.image.version": tag } };
    writeImage(output, { name: `${repository}:${tag}`, config, fill });
    for (const node of nodes) node.importImage(output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The agent copies all files of /opt/cni/bin of its image to the node. */
function fill(layer: string): void {
  const programs = [
    ["install-cni", "usr/local/bin/install-cni"],
    ["istio-cni", "opt/cni/bin/istio-cni"],
  ] as const;
  for (const [name, target] of programs) {
    mkdirSync(dirname(join(layer, target)), { recursive: true });
    copyFileSync(istioPrograms.path(name) ?? "", join(layer, target));
    chmodSync(join(layer, target), 0o755);
  }
  for (const name of ["etc", "run", "tmp", "var"]) mkdirSync(join(layer, name));
  symlinkSync("/run", join(layer, "var", "run"));
  writeFileSync(join(layer, "etc", "passwd"), "root:x:0:0:root:/:/\n");
}

/** Applies the agent with the image of this tag, and waits for its rollout. `settings` are keys of its ConfigMap. */
export async function deployIstio(cluster: Cluster, tag: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  await cluster.apply(...istioObjects(`${repository}:${tag}`, settings));
  await cluster.succeed("-n", istioNamespace, "rollout", "status", `daemonset/${istioDaemonSet}`, "--timeout=180s");
}

/** Removes the agent, whose end removes its step, its kubeconfig and its plugin. */
export async function removeIstio(cluster: Cluster): Promise<void> {
  await cluster.succeed("delete", "namespace", istioNamespace, "--timeout=180s");
}
