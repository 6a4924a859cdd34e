// kube-proxy on a cluster, in an image of the module's program.

import type { Cluster } from "../../cluster/cluster.ts";
import { endDaemon, rolledOut } from "../daemon-set.ts";
import { toolLinks } from "../node-tools.ts";
import { importPrograms } from "../programs-image.ts";
import { kubeProxyDaemon, kubeProxyObjects, type ProxyMode } from "./objects.ts";
import { kubeProxy } from "./programs.ts";

const image = "plexus.invalid/kube-proxy:1";

/** Imports the image, applies kube-proxy and waits for its rollout. */
export async function deployKubeProxy(cluster: Cluster, mode: ProxyMode = "nftables"): Promise<void> {
  const programs = { "/opt/bin/kube-proxy": kubeProxy.path("kube-proxy") };
  importPrograms(cluster.nodes, { name: image, programs, links: toolLinks });
  await cluster.apply(...kubeProxyObjects(image, mode));
  await rolledOut(cluster, kubeProxyDaemon);
}

/** Removes kube-proxy. Its tables stay on the node, as after the deletion of kubeadm's DaemonSet. */
export const removeKubeProxy = (cluster: Cluster): Promise<void> => endDaemon(cluster, kubeProxyDaemon);
