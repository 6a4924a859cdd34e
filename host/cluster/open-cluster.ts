// Opens the source of pods and definitions that a configuration names; loads only the code of that source.

import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { Clock } from "../system/clock.ts";
import type { Cluster } from "./cluster.ts";

/** The part of a configuration that names a cluster. */
export type ClusterPlace = Pick<HostConfiguration, "manifests" | "kubeconfig" | "kubernetes">;

/** Opens the cluster for one call; undefined if the configuration names none. A directory of manifests replaces the API. */
export async function openCluster(
  { manifests, kubeconfig, kubernetes }: ClusterPlace,
  warn: (text: string) => void,
  clock: Clock,
): Promise<Cluster | undefined> {
  if (manifests !== undefined) {
    const { manifestDirectory } = await import("./manifests/manifest-directory.ts");
    return manifestDirectory(manifests, clock);
  }
  if (kubeconfig === undefined) return undefined;
  const { kubeCluster } = await import("./api/kube-cluster.ts");
  return kubeCluster({
    credentials: { kubeconfig, allowInsecure: kubernetes.allowInsecure },
    budgetMs: kubernetes.budgetMs,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    clock,
    warn,
  });
}
