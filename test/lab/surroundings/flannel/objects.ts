// flannel as Documentation/kube-flannel.yml of flannel-io/flannel v0.28 installs it. The objects are our own text. The shells and iptables are the node's,
// and there is no liveness probe, because a busy machine answers late.

import { daemonSet, fieldVariable, mountsOf, type NodeDaemon, type NodePath, volumesOf } from "../daemon-set.ts";
import { toolMounts, toolVolumes } from "../node-tools.ts";
import { account } from "../role.ts";

const namespace = "kube-flannel";

/** The DaemonSet. */
export const flannelDaemon: NodeDaemon = { namespace, name: "kube-flannel-ds" };

/** The file that the installer writes. */
export const flannelFile = "10-flannel.conflist";

const networkConfiguration = {
  name: "cbr0",
  cniVersion: "0.3.1",
  plugins: [
    { type: "flannel", delegate: { hairpinMode: true, isDefaultGateway: true } },
    { type: "portmap", capabilities: { portMappings: true } },
  ],
};

/** The subnet of all nodes' pods. */
const daemonConfiguration = { Network: "10.244.0.0/16", EnableNFTables: false, Backend: { Type: "vxlan" } };

/** The objects of an installation whose programs are in `image`. */
export function flannelObjects(image: string): readonly object[] {
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    ...account(namespace, "flannel", [
      { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
      { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
    ]),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kube-flannel-cfg", namespace },
      data: {
        "cni-conf.json": JSON.stringify(networkConfiguration, undefined, 2),
        "net-conf.json": JSON.stringify(daemonConfiguration, undefined, 2),
      },
    },
    daemon(image),
  ];
}

const binaries: NodePath = ["cni-plugin", "/opt/cni/bin", "/opt/cni/bin"];
const lists: NodePath = ["cni", "/etc/cni/net.d", "/etc/cni/net.d"];
const state: NodePath = ["run", "/run/flannel", "/run/flannel"];
const lock: NodePath = ["xtables-lock", "/run/xtables.lock", "/run/xtables.lock"];

function daemon(image: string): object {
  const configuration = { name: "flannel-cfg", mountPath: "/etc/kube-flannel/" };
  const common = { image, imagePullPolicy: "Never" };
  const installPlugin = {
    ...common,
    name: "install-cni-plugin",
    command: ["cp", "-f", "/flannel", "/opt/cni/bin/flannel"],
    volumeMounts: [...toolMounts, ...mountsOf([binaries])],
  };
  const installList = {
    ...common,
    name: "install-cni",
    command: ["/opt/bin/install_conf", "/etc/kube-flannel/cni-conf.json", `/etc/cni/net.d/${flannelFile}`],
    volumeMounts: [configuration, ...mountsOf([lists])],
  };
  const flanneld = {
    ...common,
    name: "kube-flannel",
    command: ["/opt/bin/flannel", "--ip-masq", "--kube-subnet-mgr", "--healthz-port=8081"],
    readinessProbe: { httpGet: { path: "/readyz", port: 8081 }, periodSeconds: 2, timeoutSeconds: 10 },
    securityContext: { privileged: false, capabilities: { add: ["NET_ADMIN", "NET_RAW"] } },
    env: [
      fieldVariable("POD_NAME", "metadata.name"),
      fieldVariable("POD_NAMESPACE", "metadata.namespace"),
      { name: "EVENT_QUEUE_DEPTH", value: "5000" },
      { name: "CONT_WHEN_CACHE_NOT_READY", value: "false" },
    ],
    volumeMounts: [configuration, ...toolMounts, ...mountsOf([state, lock])],
  };
  return daemonSet(flannelDaemon, {
    serviceAccountName: "flannel",
    initContainers: [installPlugin, installList],
    containers: [flanneld],
    volumes: [
      { name: "flannel-cfg", configMap: { name: "kube-flannel-cfg" } },
      ...toolVolumes,
      ...volumesOf([binaries, lists, state]),
      ...volumesOf([lock], "FileOrCreate"),
    ],
  });
}
