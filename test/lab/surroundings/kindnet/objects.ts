// kindnet of kubernetes-sigs/kind, whose daemon is no part of a served module, played by a shell script. It writes the list of images/kindnetd/cmd/
// kindnetd/cni.go (once at its start, renamed from a temporary file), and the masquerading of masq.go. The rights and mounts are those of the manifest in
// pkg/build/nodeimage/const_cni.go. The text is our own. Routes to other nodes (routes.go) and network policies are left out.

import { daemonSet, mountsOf, type NodeDaemon, type NodePath, volumesOf } from "../daemon-set.ts";
import { toolMounts, toolVolumes } from "../node-tools.ts";
import { account } from "../role.ts";

const namespace = "kube-system";

/** The DaemonSet. */
export const kindnetDaemon: NodeDaemon = { namespace, name: "kindnet" };

/** The file that the daemon writes. */
export const kindnetFile = "10-kindnet.conflist";

const networkConfiguration = (subnet: string): object => ({
  cniVersion: "0.3.1",
  name: "kindnet",
  plugins: [
    {
      type: "ptp",
      ipMasq: false,
      ipam: {
        type: "host-local",
        dataDir: "/run/cni-ipam-state",
        routes: [{ dst: "0.0.0.0/0" }],
        ranges: [[{ subnet }]],
      },
    },
    { type: "portmap", capabilities: { portMappings: true } },
  ],
});

/** The script: $LIST is the list, $POD_SUBNET the subnet of all pods. */
const script = `set -e
file=/etc/cni/net.d/${kindnetFile}
printf %s "$LIST" > $file.temp
mv $file.temp $file
chain=KIND-MASQ-AGENT
iptables -w -t nat -N $chain 2>/dev/null || true
ensure() { iptables -w -t nat -C "$@" 2>/dev/null || iptables -w -t nat -A "$@"; }
ensure $chain -d "$POD_SUBNET" -j RETURN
ensure $chain -j MASQUERADE
ensure POSTROUTING -m addrtype ! --dst-type LOCAL -j $chain
trap "exit 0" TERM INT
while :; do sleep 3600 & wait $!; done`;

const lists: NodePath = ["cni-cfg", "/etc/cni/net.d", "/etc/cni/net.d"];
const lock: NodePath = ["xtables-lock", "/run/xtables.lock", "/run/xtables.lock"];

/** The objects of an installation on a node with this subnet. `image` has links to the node's tools. */
export function kindnetObjects(image: string, subnet: string): readonly object[] {
  const container = {
    name: "kindnet-cni",
    image,
    imagePullPolicy: "Never",
    command: ["/bin/sh", "-c", script],
    env: [
      { name: "LIST", value: JSON.stringify(networkConfiguration(subnet)) },
      { name: "POD_SUBNET", value: "10.244.0.0/16" },
    ],
    securityContext: { privileged: false, capabilities: { add: ["NET_RAW", "NET_ADMIN"] } },
    volumeMounts: [...toolMounts, ...mountsOf([lists, lock])],
  };
  return [
    ...account(namespace, kindnetDaemon.name, [
      { apiGroups: [""], resources: ["nodes", "pods", "namespaces"], verbs: ["list", "watch"] },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["list", "watch"] },
    ]),
    daemonSet(kindnetDaemon, {
      serviceAccountName: kindnetDaemon.name,
      containers: [container],
      volumes: [...toolVolumes, ...volumesOf([lists]), ...volumesOf([lock], "FileOrCreate")],
    }),
  ];
}
