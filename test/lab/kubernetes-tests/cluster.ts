// A cluster on which Kubernetes' own network tests run: two nodes, kube-proxy, CoreDNS, the tests' image, and routes between pods and the API server.

import { join } from "node:path";

import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { apiAddress } from "../kube/address.ts";
import { inHost } from "../namespaces.ts";
import { deployCoreDns } from "../surroundings/coredns/install.ts";
import { nameServer } from "../surroundings/coredns/objects.ts";
import { coreDns } from "../surroundings/coredns/programs.ts";
import { deployKubeProxy } from "../surroundings/kube-proxy/install.ts";
import { kubeProxy } from "../surroundings/kube-proxy/programs.ts";
import type { Requirement } from "../requires.ts";
import { importTestImages, testTools, writeRegistryList } from "./image.ts";
import { kubernetesTests } from "./programs.ts";
import { runKubernetesTests, type TestOutcome } from "./run.ts";

/** The requirements of these tests beside a cluster. */
export const kubernetesTestsRequirements: readonly Requirement[] = [
  kubernetesTests.requirement,
  coreDns.requirement,
  kubeProxy.requirement,
  testTools,
];

/** The cluster before a default network is installed. */
export async function startTestedCluster(): Promise<Cluster> {
  // A test wants the endpoints of the Service `kubernetes`, which the API server writes itself.
  const apiFlags = [`--advertise-address=${apiAddress}`, "--endpoint-reconciler-type=lease"];
  const cluster = await startCluster({ nodes: 2, clusterDns: nameServer, apiFlags });
  // The API server's proxy reaches pods.
  for (const { podSubnet, address } of cluster.nodes) inHost(["ip", "route", "replace", podSubnet, "via", address]);
  return cluster;
}

/** Installs kube-proxy and CoreDNS, and runs the tests of `[sig-network]` that are part of Kubernetes' conformance. */
export async function networkConformance(cluster: Cluster, directory: string): Promise<readonly TestOutcome[]> {
  const program = kubernetesTests.path("e2e.test") ?? "";
  const registries = writeRegistryList(directory);
  // With nft 1.0.6 kube-proxy 1.36.3 loses elements of its maps when it writes all of its tables again.
  await deployKubeProxy(cluster, "iptables");
  await deployCoreDns(cluster);
  importTestImages(cluster.nodes, program, registries);
  const focus = process.env["PLEXUS_KUBERNETES_FOCUS"] ?? String.raw`\[sig-network\].*\[Conformance\]`;
  return runKubernetesTests({ cluster, program, registries, directory: join(directory, "report"), focus });
}
