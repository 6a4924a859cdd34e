// kube-router as daemonset/kubeadm-kuberouter.yaml of cloudnativelabs/kube-router v2.1.0 installs it, with the list of kubeadm-kuberouter-all-features-
// hostport.yaml. The objects are our own text. kube-router's service account takes the kubeconfig's place, the tools are the node's, and there is no
// liveness probe, because a busy machine answers late.

import { daemonSet, fieldVariable, mountsOf, type NodeDaemon, type NodePath, volumesOf } from "../daemon-set.ts";
import { toolMounts, toolVolumes } from "../node-tools.ts";
import { account } from "../role.ts";

const namespace = "kube-system";

/** The DaemonSet. */
export const kubeRouterDaemon: NodeDaemon = { namespace, name: "kube-router" };

/** The file that the installer writes and the daemon completes with the node's subnet. */
export const kubeRouterFile = "10-kuberouter.conflist";

/** The list of the ConfigMap. */
const networkConfiguration = {
  cniVersion: "0.3.0",
  name: "mynet",
  plugins: [
    {
      name: "kubernetes",
      type: "bridge",
      bridge: "kube-bridge",
      isDefaultGateway: true,
      hairpinMode: true,
      ipam: { type: "host-local" },
    },
    { type: "portmap", capabilities: { snat: true, portMappings: true } },
  ],
};

const read = ["get", "list", "watch"];

/** The objects of an installation whose programs are in `image`. */
export function kubeRouterObjects(image: string): readonly object[] {
  return [
    ...account(namespace, kubeRouterDaemon.name, [
      { apiGroups: [""], resources: ["namespaces", "pods", "services", "nodes", "endpoints"], verbs: read },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: read },
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
      { apiGroups: [""], resources: ["services/status"], verbs: ["update"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: read },
    ]),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kube-router-cfg", namespace },
      data: { "cni-conf.json": JSON.stringify(networkConfiguration, undefined, 3) },
    },
    daemon(image),
  ];
}

const lists: NodePath = ["cni-conf-dir", "/etc/cni/net.d", "/etc/cni/net.d"];
const lock: NodePath = ["xtables-lock", "/run/xtables.lock", "/run/xtables.lock"];

function daemon(image: string): object {
  const common = { image, imagePullPolicy: "Never" };
  const path = `/etc/cni/net.d/${kubeRouterFile}`;
  const temporary = "/etc/cni/net.d/.tmp-kuberouter-cfg";
  const install = {
    ...common,
    name: "install-cni",
    command: ["/bin/sh", "-c", `[ -f ${path} ] || { cp /etc/kube-router/cni-conf.json ${temporary}; mv ${temporary} ${path}; }`],
    volumeMounts: [{ name: "kube-router-cfg", mountPath: "/etc/kube-router" }, ...toolMounts, ...mountsOf([lists])],
  };
  const router = {
    ...common,
    name: "kube-router",
    command: ["/opt/bin/kube-router"],
    args: ["--run-router=true", "--run-firewall=true", "--run-service-proxy=false", "--bgp-graceful-restart=true"],
    env: [
      fieldVariable("NODE_NAME", "spec.nodeName"),
      fieldVariable("POD_NAME", "metadata.name"),
      { name: "KUBE_ROUTER_CNI_CONF_FILE", value: path },
      { name: "LD_LIBRARY_PATH", value: "/opt/ipset" },
    ],
    readinessProbe: { httpGet: { path: "/healthz", port: 20244 }, periodSeconds: 2, timeoutSeconds: 10 },
    securityContext: { privileged: true },
    volumeMounts: [...toolMounts, ...mountsOf([lists, lock])],
  };
  return daemonSet(kubeRouterDaemon, {
    serviceAccountName: kubeRouterDaemon.name,
    hostPID: true,
    initContainers: [install],
    containers: [router],
    volumes: [
      { name: "kube-router-cfg", configMap: { name: "kube-router-cfg" } },
      ...toolVolumes,
      ...volumesOf([lists]),
      ...volumesOf([lock], "FileOrCreate"),
    ],
  });
}
