// A cluster without Plexus, whatever a test left of it.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Cluster } from "./cluster.ts";

const namespace = ["--namespace", "kube-system"];
const definitions = "crd/network-attachment-definitions.k8s.cni.cncf.io";

/** Removes the release, its definitions, and every file of Plexus on the nodes. */
export async function removeInstallation(cluster: Cluster): Promise<void> {
  const { status, stdout, stderr } = await cluster.helm("list", "--all", "--short", ...namespace);
  if (status !== 0) throw new Error(`helm list: ${stderr}`);
  if (stdout.split("\n").includes("plexus")) {
    const removed = await cluster.helm("uninstall", "plexus", ...namespace, "--no-hooks", "--wait", "--timeout", "120s");
    if (removed.status !== 0) throw new Error(`helm uninstall: ${removed.stderr}`);
  }
  const label = ["-l", "app.kubernetes.io/name=plexus"];
  // A stopping daemon still serves calls: a pod that it attached could not be detached without the files below.
  await cluster.succeed("-n", "kube-system", "wait", "--for=delete", "pods", ...label, "--timeout=120s");
  // Objects that a test's interrupted hook left.
  const kinds = "daemonsets,jobs,serviceaccounts,configmaps,roles,rolebindings,clusterroles,clusterrolebindings";
  await cluster.succeed("-n", "kube-system", "delete", kinds, ...label, "--timeout=120s");
  await cluster.succeed("delete", definitions, "--ignore-not-found", "--timeout=120s");
  for (const { disk } of cluster.nodes) {
    const plugins = join(disk, "opt", "cni", "bin");
    for (const name of readdirSync(plugins).filter((each) => each.includes("plexus") || each.includes(".wasm")))
      rmSync(join(plugins, name), { recursive: true });
    const kept = ["etc/plexus", "etc/cni/net.d/00-plexus.conflist", "opt/plexus", "var/lib/cni/plexus"];
    for (const path of kept) rmSync(join(disk, path), { recursive: true, force: true });
  }
}
