// kube-proxy as kubeadm installs it (cmd/kubeadm/app/phases/addons/proxy/manifests.go of kubernetes/kubernetes). The objects are our own
// text. The tools are the node's, its service account takes the kubeconfig's place, and its limits of conntrack are off, because they are the machine's.

import { daemonSet, fieldVariable, type NodeDaemon } from "../daemon-set.ts";
import { toolMounts, toolVolumes } from "../node-tools.ts";

const namespace = "kube-system";

/** The DaemonSet. */
export const kubeProxyDaemon: NodeDaemon = { namespace, name: "kube-proxy" };

/** A mode of kube-proxy. */
export type ProxyMode = "nftables" | "iptables";

const configuration = {
  apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
  kind: "KubeProxyConfiguration",
  clusterCIDR: "10.244.0.0/16",
  healthzBindAddress: "0.0.0.0:10256",
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
};

/** The objects of an installation whose program is in `image`. */
export function kubeProxyObjects(image: string, mode: ProxyMode): readonly object[] {
  const { name } = kubeProxyDaemon;
  const container = {
    name,
    image,
    imagePullPolicy: "Never",
    command: ["/opt/bin/kube-proxy", "--config=/var/lib/kube-proxy/config.conf", "--hostname-override=$(NODE_NAME)"],
    env: [fieldVariable("NODE_NAME", "spec.nodeName")],
    readinessProbe: { httpGet: { path: "/healthz", port: 10256 }, periodSeconds: 2, timeoutSeconds: 10 },
    securityContext: { privileged: true },
    volumeMounts: [{ name, mountPath: "/var/lib/kube-proxy" }, ...toolMounts],
  };
  // After a restart kube-proxy 1.36.3 with nft 1.0.6 leaves its maps of Services empty, on nodes without Plexus too. It fills new tables.
  const emptied = {
    name: "delete-tables",
    image,
    imagePullPolicy: "Never",
    command: ["/bin/sh", "-c", "for family in ip ip6; do nft delete table $family kube-proxy; done; true"],
    securityContext: { privileged: true },
    volumeMounts: toolMounts,
  };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "kubeadm:node-proxier" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:node-proxier" },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace },
      data: { "config.conf": JSON.stringify({ ...configuration, mode }, undefined, 2) },
    },
    daemonSet(kubeProxyDaemon, {
      serviceAccountName: name,
      initContainers: [emptied],
      containers: [container],
      volumes: [{ name, configMap: { name } }, ...toolVolumes],
    }),
  ];
}
