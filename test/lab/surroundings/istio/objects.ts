// Istio's CNI node agent as its chart installs it without ambient mode: manifests/charts/istio-cni/templates of istio/istio (daemonset.yaml,
// clusterrole.yaml, configmap-cni.yaml with the chart's values.yaml). The objects are our own text. Two values differ: `REPAIR_ENABLED` is false,
// because a pod repair needs iptables in the image, and the log level of the plugin is `debug`.

/** The namespace of Istio's node agent. */
export const istioNamespace = "istio-system";

/** The DaemonSet. The plugin recognises the agent's own pod by this name. */
export const istioDaemonSet = "istio-cni-node";

const name = "istio-cni";
const labels = { "k8s-app": istioDaemonSet, "sidecar.istio.io/inject": "false", "istio.io/dataplane-mode": "none" };

/** The keys of the chart's ConfigMap, which install-cni reads from its environment. */
const configuration = {
  AMBIENT_ENABLED: "false",
  CHAINED_CNI_PLUGIN: "true",
  EXCLUDE_NAMESPACES: "kube-system",
  ISTIO_OWNED_CNI_CONFIG: "false",
  NATIVE_NFTABLES: "false",
  REPAIR_ENABLED: "false",
};

/** The objects of an installation whose programs are in `image`. `settings` are further keys of the ConfigMap. */
export function istioObjects(image: string, settings: Readonly<Record<string, string>> = {}): readonly object[] {
  const metadata = { name, namespace: istioNamespace };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: istioNamespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name },
      rules: [{ apiGroups: [""], resources: ["pods", "nodes", "namespaces"], verbs: ["get", "list", "watch"] }],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `${name}-config`, namespace: istioNamespace },
      data: { ...configuration, ...settings },
    },
    daemonSet(image),
  ];
}

/** The agent's mounts: volume, directory of the node, path in the container. */
const hostDirectories = [
  ["cni-bin-dir", "/opt/cni/bin", "/host/opt/cni/bin"],
  ["cni-net-dir", "/etc/cni/net.d", "/host/etc/cni/net.d"],
  ["cni-socket-dir", "/var/run/istio-cni", "/var/run/istio-cni"],
] as const;

const fieldOf = (fieldPath: string): object => ({ valueFrom: { fieldRef: { fieldPath } } });

function daemonSet(image: string): object {
  const container = {
    name: "install-cni",
    image,
    imagePullPolicy: "Never",
    command: ["install-cni"],
    args: ["--log_output_level=default:info,cni-plugin:debug"],
    readinessProbe: { httpGet: { path: "/readyz", port: 8000 } },
    securityContext: {
      privileged: false,
      runAsUser: 0,
      runAsGroup: 0,
      capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "NET_RAW", "SYS_PTRACE", "SYS_ADMIN", "DAC_OVERRIDE"] },
    },
    envFrom: [{ configMapRef: { name: `${name}-config` } }],
    env: [
      { name: "NODE_NAME", ...fieldOf("spec.nodeName") },
      { name: "POD_NAME", ...fieldOf("metadata.name") },
      { name: "POD_NAMESPACE", ...fieldOf("metadata.namespace") },
    ],
    volumeMounts: hostDirectories.map(([volume, , mountPath]) => ({ name: volume, mountPath })),
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: istioDaemonSet, namespace: istioNamespace },
    spec: {
      selector: { matchLabels: { "k8s-app": istioDaemonSet } },
      template: {
        metadata: { labels, annotations: { "sidecar.istio.io/inject": "false" } },
        spec: {
          serviceAccountName: name,
          priorityClassName: "system-node-critical",
          terminationGracePeriodSeconds: 30,
          tolerations: ["NoSchedule", "NoExecute"].map((effect) => ({ operator: "Exists", effect })),
          containers: [container],
          volumes: hostDirectories.map(([volume, path]) => ({ name: volume, hostPath: { path, type: "DirectoryOrCreate" } })),
        },
      },
    },
  };
}
