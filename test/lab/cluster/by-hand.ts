// Plexus on a node of a cluster as an administrator installs it by hand: docs/how-to/install-on-a-cluster.md, with one-shot engines.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../compiled.ts";
import { base64File } from "../kube/certificates.ts";
import type { Cluster } from "./cluster.ts";
import type { ClusterNode } from "./node.ts";

/** Installs Plexus in front of the network that `node.installNetwork()` installed. `more` has further keys of Plexus' configuration. */
export async function installByHand(cluster: Cluster, node: ClusterNode, more: object = {}): Promise<void> {
  for (const file of ["crd.yaml", "rbac.yaml"]) await cluster.apply(readFileSync(join(root, "deploy", file), "utf8"));
  const places = ["--home", join(node.disk, "opt", "plexus"), "--cni-bin", join(node.disk, "opt", "cni", "bin")];
  execFileSync(process.execPath, [join(root, "scripts", "install.ts"), ...places], { stdio: ["ignore", "ignore", "pipe"] });
  // The link leads to the test's path of the home. Without it the shim looks into /opt/plexus.
  rmSync(join(node.disk, "opt", "cni", "bin", ".plexus"));
  const body = { spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 7200 } };
  const made = await cluster.core.createNamespacedServiceAccountToken({ namespace: "kube-system", name: "plexus", body });
  const config = cluster.kubeconfigOf("plexus", [], {
    user: { token: made.status?.token },
    cluster: { "certificate-authority-data": base64File(cluster.authority.certificate) },
  });
  mkdirSync(join(node.disk, "etc", "plexus"), { recursive: true });
  writeFileSync(join(node.disk, "etc", "plexus", "plexus.kubeconfig"), readFileSync(config), { mode: 0o600 });
  const plexus = {
    type: "plexus",
    clusterNetwork: "/etc/cni/net.d/10-bridge.conflist",
    kubeconfig: "/etc/plexus/plexus.kubeconfig",
    capabilities: { portMappings: true },
    definitions: { trusted: ["*"] },
    ...more,
  };
  const list = { cniVersion: "1.0.0", name: "plexus", plugins: [plexus] };
  node.configurationFile("00-plexus.conflist", JSON.stringify(list, null, 2));
}
