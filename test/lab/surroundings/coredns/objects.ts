// CoreDNS as kubeadm installs it (cmd/kubeadm/app/phases/addons/dns/manifests.go of kubernetes/kubernetes), with one replica and without names from outside
// of the cluster. The objects are our own text.

import { account } from "../role.ts";

const namespace = "kube-system";
const name = "coredns";

/** The Service's address, which a kubelet writes into the pods' resolv.conf. */
export const nameServer = "10.96.0.10";

const corefile = `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    cache 30
    loop
    reload
    loadbalance
}
`;

/** A pod's fields for names of the cluster: what a kubelet with `clusterDNS` makes of the policy ClusterFirst. */
export const clusterNames = {
  dnsPolicy: "None",
  dnsConfig: {
    nameservers: [nameServer],
    searches: ["default.svc.cluster.local", "svc.cluster.local", "cluster.local"],
    options: [{ name: "ndots", value: "5" }],
  },
};

/** The objects of an installation whose program is in `image`. */
export function coreDnsObjects(image: string): readonly object[] {
  const labels = { "k8s-app": "kube-dns" };
  const container = {
    name,
    image,
    imagePullPolicy: "Never",
    command: ["/opt/bin/coredns", "-conf", "/etc/coredns/Corefile"],
    readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 2, timeoutSeconds: 10 },
    volumeMounts: [{ name: "config-volume", mountPath: "/etc/coredns", readOnly: true }],
  };
  const ports = ["UDP", "TCP"].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, port: 53, protocol }));
  return [
    ...account(namespace, name, [
      { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
    ]),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { Corefile: corefile } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kube-dns", namespace },
      spec: { clusterIP: nameServer, selector: labels, ports },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: name,
            dnsPolicy: "Default",
            terminationGracePeriodSeconds: 1,
            containers: [container],
            volumes: [{ name: "config-volume", configMap: { name } }],
          },
        },
      },
    },
  ];
}
