// Istio's CNI node agent on a cluster, in an image of the module's programs.

import type { Cluster } from "../../cluster/cluster.ts";
import type { ClusterNode } from "../../cluster/node.ts";
import { importPrograms } from "../programs-image.ts";
import { istioDaemonSet, istioNamespace, istioObjects } from "./objects.ts";
import { istioPrograms } from "./programs.ts";

const repository = "plexus.invalid/istio-cni";

/** Imports the image with this tag on nodes. The agent copies all files of /opt/cni/bin of its image to the node. */
export function importIstio(nodes: readonly ClusterNode[], tag: string): void {
  const programs = {
    "/usr/local/bin/install-cni": istioPrograms.path("install-cni"),
    "/opt/cni/bin/istio-cni": istioPrograms.path("istio-cni"),
  };
  importPrograms(nodes, { name: `${repository}:${tag}`, programs, links: { "/var/run": "/run" } });
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
