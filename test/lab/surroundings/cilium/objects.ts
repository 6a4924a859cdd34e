// Cilium as its chart installs it (install/kubernetes/cilium of cilium/cilium 1.20.2: cilium-agent/daemonset.yaml, clusterrole.yaml, cilium-configmap.yaml),
// with the settings that a cluster with kube-proxy and subnets of the Node objects has. The objects are our own text. There is no operator: the
// CustomResourceDefinitions are applied by the test, and no node routes to another.

import { daemonSet, fieldVariable, mountsOf, type NodeDaemon, type NodePath, volumesOf } from "../daemon-set.ts";
import { toolMounts, toolVolumes } from "../node-tools.ts";
import { account } from "../role.ts";

const namespace = "kube-system";

/** The DaemonSet. */
export const ciliumDaemon: NodeDaemon = { namespace, name: "cilium" };

/** The file that the agent writes. */
export const ciliumFile = "05-cilium.conflist";

const settings: Readonly<Record<string, string>> = {
  "agent-health-port": "9879",
  "auto-create-cilium-node-resource": "true",
  "bpf-map-dynamic-size-ratio": "0.0025",
  "cni-chaining-mode": "portmap",
  "cni-exclusive": "false",
  "cni-log-file": "/var/run/cilium/cilium-cni.log",
  "datapath-mode": "veth",
  "enable-endpoint-health-checking": "false",
  "enable-envoy-config": "false",
  "enable-health-check-nodeport": "false",
  "enable-health-checking": "false",
  "enable-hubble": "false",
  "enable-ipv4": "true",
  "enable-ipv4-masquerade": "true",
  "enable-ipv6": "false",
  "enable-k8s": "true",
  "enable-l7-proxy": "false",
  "identity-allocation-mode": "crd",
  "ipv4-native-routing-cidr": "10.244.0.0/16",
  "kube-proxy-replacement": "false",
  "routing-mode": "native",
  "write-cni-conf-when-ready": `/host/etc/cni/net.d/${ciliumFile}`,
  ipam: "kubernetes",
};

const read = ["get", "list", "watch"];
const group = "cilium.io";

/** The objects of an installation whose programs are in `image`. The CustomResourceDefinitions must exist. */
export function ciliumObjects(image: string): readonly object[] {
  return [
    ...account(namespace, ciliumDaemon.name, [
      { apiGroups: [""], resources: ["namespaces", "services", "pods", "nodes", "secrets"], verbs: read },
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["cilium-config"], verbs: read },
      { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
      { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: read },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: read },
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create", "get", "update", "list", "delete"] },
      { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: read },
      { apiGroups: [group], resources: ["*"], verbs: read },
      { apiGroups: [group], resources: ["ciliumidentities", "ciliumendpoints", "ciliumnodes"], verbs: ["create", "update"] },
      { apiGroups: [group], resources: ["ciliumendpoints"], verbs: ["delete", "patch"] },
      { apiGroups: [group], resources: ["ciliumnodes/status", "ciliumendpoints/status"], verbs: ["update", "patch"] },
    ]),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "cilium-config", namespace }, data: settings },
    daemon(image),
  ];
}

const lists: NodePath = ["etc-cni-netd", "/etc/cni/net.d", "/host/etc/cni/net.d"];
const binaries: NodePath = ["cni-path", "/opt/cni/bin", "/host/opt/cni/bin"];
const state: NodePath = ["cilium-run", "/var/run/cilium", "/var/run/cilium"];
const lock: NodePath = ["xtables-lock", "/run/xtables.lock", "/run/xtables.lock"];
const maps = "/sys/fs/bpf";

function daemon(image: string): object {
  const common = { image, imagePullPolicy: "Never", securityContext: { privileged: true } };
  const plugin = "/host/opt/cni/bin/cilium-cni";
  const initContainers = [
    {
      ...common,
      name: "mount-bpf-fs",
      command: ["/bin/sh", "-c", `mount | grep "${maps} type bpf" || mount -t bpf bpf ${maps}`],
      volumeMounts: [{ name: "bpf-maps", mountPath: maps, mountPropagation: "Bidirectional" }, ...toolMounts],
    },
    {
      ...common,
      name: "install-cni-binaries",
      command: ["/bin/sh", "-c", `cp /opt/cilium/cilium-cni ${plugin}.new && mv ${plugin}.new ${plugin}`],
      volumeMounts: [...toolMounts, ...mountsOf([binaries])],
    },
  ];
  const agent = {
    ...common,
    name: "cilium-agent",
    command: ["cilium-agent", "--config-dir=/tmp/cilium/config-map"],
    env: [
      fieldVariable("K8S_NODE_NAME", "spec.nodeName"),
      fieldVariable("CILIUM_K8S_NAMESPACE", "metadata.namespace"),
      { name: "LD_LIBRARY_PATH", value: "/opt/llvm/lib:/opt/ipset" },
    ],
    readinessProbe: {
      httpGet: { host: "127.0.0.1", path: "/healthz", port: 9879, httpHeaders: [{ name: "brief", value: "true" }] },
      periodSeconds: 2,
      timeoutSeconds: 10,
    },
    volumeMounts: [
      { name: "bpf-maps", mountPath: maps, mountPropagation: "HostToContainer" },
      { name: "cilium-netns", mountPath: "/var/run/cilium/netns", mountPropagation: "HostToContainer" },
      { name: "cilium-config-path", mountPath: "/tmp/cilium/config-map", readOnly: true },
      ...toolMounts,
      ...mountsOf([lists, state, lock]),
    ],
  };
  return daemonSet(ciliumDaemon, {
    serviceAccountName: ciliumDaemon.name,
    initContainers,
    containers: [agent],
    volumes: [
      { name: "bpf-maps", hostPath: { path: maps, type: "DirectoryOrCreate" } },
      { name: "cilium-netns", hostPath: { path: "/var/run/netns", type: "DirectoryOrCreate" } },
      { name: "cilium-config-path", configMap: { name: "cilium-config" } },
      ...toolVolumes,
      ...volumesOf([lists, binaries, state]),
      ...volumesOf([lock], "FileOrCreate"),
    ],
  });
}
