// Calico's CNI plugin as its manifest installs it with the Kubernetes datastore: charts/calico/templates of projectcalico/calico
// (calico-config.yaml, calico-node-rbac.yaml, calico-node.yaml). The objects are our own text. calico-node's place is taken by a container that writes
// /var/lib/calico/nodename, as calico-node's start does; without Felix no policy is enforced.

import { toolsImage } from "../../cluster/images.ts";
import { daemonSet, mountsOf, type NodeDaemon, type NodePath, volumesOf } from "../daemon-set.ts";
import { roles } from "./roles.ts";

/** The subnet of Calico's pool, which no other network of the cluster has. */
export const calicoPool = "10.48.0.0/24";

const namespace = "kube-system";

/** The DaemonSet. */
export const calicoDaemon: NodeDaemon = { namespace, name: "calico-node" };

/** The list that the installer writes. It replaces the words between underscores. */
const networkConfiguration = {
  name: "k8s-pod-network",
  cniVersion: "0.3.1",
  plugins: [
    {
      type: "calico",
      log_level: "info",
      log_file_path: "/var/log/calico/cni/cni.log",
      datastore_type: "kubernetes",
      nodename: "__KUBERNETES_NODE_NAME__",
      mtu: 1500,
      ipam: { type: "calico-ipam" },
      policy: { type: "k8s" },
      kubernetes: { kubeconfig: "__KUBECONFIG_FILEPATH__" },
    },
    { type: "portmap", snat: true, capabilities: { portMappings: true } },
    { type: "bandwidth", capabilities: { bandwidth: true } },
  ],
};

/** The objects of an installation whose programs are in `image`. The CustomResourceDefinitions of the release must exist. */
export function calicoObjects(image: string): readonly object[] {
  return [
    ...roles(namespace),
    {
      apiVersion: "crd.projectcalico.org/v1",
      kind: "ClusterInformation",
      metadata: { name: "default" },
      spec: { datastoreReady: true, clusterGUID: "00000000000000000000000000000000", clusterType: "k8s" },
    },
    {
      apiVersion: "crd.projectcalico.org/v1",
      kind: "IPPool",
      metadata: { name: "default-ipv4-ippool" },
      spec: {
        cidr: calicoPool,
        blockSize: 26,
        ipipMode: "Never",
        vxlanMode: "Never",
        natOutgoing: true,
        nodeSelector: "all()",
        allowedUses: ["Workload", "Tunnel"],
      },
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "calico-config", namespace },
      data: { cni_network_config: JSON.stringify(networkConfiguration, undefined, 2) },
    },
    daemon(image),
  ];
}

const binaries: NodePath = ["cni-bin-dir", "/opt/cni/bin", "/host/opt/cni/bin"];
const lists: NodePath = ["cni-net-dir", "/etc/cni/net.d", "/host/etc/cni/net.d"];
const state: NodePath = ["var-lib-calico", "/var/lib/calico", "/var/lib/calico"];

function daemon(image: string): object {
  const nodeName = { valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } };
  const configuration = { valueFrom: { configMapKeyRef: { name: "calico-config", key: "cni_network_config" } } };
  const install = {
    name: "install-cni",
    image,
    imagePullPolicy: "Never",
    command: ["/opt/cni/bin/install"],
    env: [
      { name: "CNI_CONF_NAME", value: "10-calico.conflist" },
      { name: "CNI_NETWORK_CONFIG", ...configuration },
      { name: "KUBERNETES_NODE_NAME", ...nodeName },
      { name: "SLEEP", value: "false" },
    ],
    volumeMounts: mountsOf([binaries, lists]),
    securityContext: { privileged: true },
  };
  // The installer of 3.28 writes https://[10.96.0.1]:443, which programs of Go 1.26 refuse: RFC 3986 has brackets around IPv6 addresses only.
  const unbracketed = {
    name: "kubeconfig",
    image: toolsImage,
    imagePullPolicy: "Never",
    command: ["sed", "-i", "s|//\\[\\([0-9.]*\\)\\]|//\\1|", "/host/etc/cni/net.d/calico-kubeconfig"],
    volumeMounts: mountsOf([lists]),
  };
  const script = 'echo -n "$NODENAME" > /var/lib/calico/nodename; trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done';
  const node = {
    name: "calico-node",
    image: toolsImage,
    imagePullPolicy: "Never",
    command: ["/bin/sh", "-c", script],
    env: [{ name: "NODENAME", ...nodeName }],
    volumeMounts: mountsOf([state]),
  };
  return daemonSet(calicoDaemon, {
    serviceAccountName: calicoDaemon.name,
    initContainers: [install, unbracketed],
    containers: [node],
    volumes: volumesOf([binaries, lists, state]),
  });
}
