// The source of pods and definitions that a configuration names; each kind is loaded only where it is used.

import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { Cluster } from "./cluster.ts";

/** For one call; undefined where the configuration names none. A directory of manifests stands in for the API. */
export async function openCluster(
  { manifests, kubeconfig, kubernetes }: Pick<HostConfiguration, "manifests" | "kubeconfig" | "kubernetes">,
  warn: (text: string) => void,
): Promise<Cluster | undefined> {
  if (manifests !== undefined) {
    const { manifestDirectory } = await import("./manifest-directory.ts");
    return manifestDirectory(manifests);
  }
  if (kubeconfig === undefined) return undefined;
  const { kubeCluster } = await import("../kube/kube-cluster.ts");
  return kubeCluster({
    credentials: { kubeconfig, allowInsecure: kubernetes.allowInsecure },
    budgetMs: kubernetes.budgetMs,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    now: () => performance.now(),
    warn,
  });
}
