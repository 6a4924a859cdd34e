// The kubelet's configuration in a node.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Authority } from "../kube/certificates.ts";
import { runtimeSocket } from "./runtime.ts";

export interface KubeletInit {
  /** The node's name. */
  readonly name: string;
  readonly address: string;
  /** The directory that is the node's disk. */
  readonly disk: string;
  /** The cgroup below which the kubelet makes the pods' cgroups. */
  readonly cgroup: string;
  readonly authority: Authority;
  /** The address of the cluster's DNS, which pods get as their name server. Undefined: pods get the node's. */
  readonly clusterDns: string | undefined;
  /** Writes a kubeconfig and answers its path. */
  readonly kubeconfig: (user: string, groups: readonly string[]) => string;
}

/** Writes the kubelet's files onto the disk of a node and answers the kubelet's arguments. */
export function configureKubelet(init: KubeletInit): readonly string[] {
  const { name, address, disk, cgroup, clusterDns, authority, kubeconfig } = init;
  const place = (file: string): string => join(disk, "etc", "kubernetes", file);
  mkdirSync(join(disk, "etc", "kubernetes", "manifests"), { recursive: true });
  const serving = authority.issue(`kubelet-${name}`, {
    commonName: `system:node:${name}`,
    groups: ["system:nodes"],
    alternativeNames: [`IP:${address}`, `DNS:${name}`],
  });
  copyFileSync(authority.certificate, place("ca.crt"));
  copyFileSync(serving.certificate, place("kubelet.crt"));
  copyFileSync(serving.key, place("kubelet.key"));
  copyFileSync(kubeconfig(`system:node:${name}`, ["system:nodes"]), place("kubelet.conf"));
  writeFileSync(place("kubelet.json"), JSON.stringify({ ...configuration(cgroup), ...namesOf(clusterDns) }, null, 2));
  return [
    "--config=/etc/kubernetes/kubelet.json",
    "--kubeconfig=/etc/kubernetes/kubelet.conf",
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    "--v=2",
  ];
}

const namesOf = (clusterDns: string | undefined): object =>
  clusterDns === undefined ? {} : { clusterDNS: [clusterDns], clusterDomain: "cluster.local" };

function configuration(cgroup: string): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: `unix://${runtimeSocket}`,
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: cgroup,
    enforceNodeAllocatable: ["pods"],
    failSwapOn: false,
    oomScoreAdj: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: "/etc/kubernetes/ca.crt" },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: "/etc/kubernetes/kubelet.crt",
    tlsPrivateKeyFile: "/etc/kubernetes/kubelet.key",
    staticPodPath: "/etc/kubernetes/manifests",
    resolvConf: "/etc/resolv.conf",
    makeIPTablesUtilChains: false,
    healthzPort: 0,
    readOnlyPort: 0,
    maxPods: 250,
    // The disk is the developer's.
    evictionHard: { "memory.available": "1Mi", "nodefs.available": "0%", "imagefs.available": "0%", "nodefs.inodesFree": "0%" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    nodeStatusUpdateFrequency: "2s",
    nodeStatusReportFrequency: "10s",
    // A test changes a ConfigMap or a taint and waits for the effect.
    syncFrequency: "10s",
    configMapAndSecretChangeDetectionStrategy: "Watch",
    serializeImagePulls: false,
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
    eventRecordQPS: 100,
    eventBurst: 200,
    logging: { format: "text" },
  };
}
