// A further network for pods of a cluster.

/** A NetworkAttachmentDefinition of the namespace `default`: a bridge of its own, with addresses of 10.20.0.0/24 from the IPAM plugin. */
export function storageWith(ipam: string) {
  const plugins = [{ type: "bridge", bridge: "br-storage", ipam: { type: ipam, ranges: [[{ subnet: "10.20.0.0/24" }]] } }];
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name: "storage", namespace: "default" },
    spec: { config: JSON.stringify({ cniVersion: "1.0.0", name: "storage", plugins }) },
  };
}

/** The network with addresses from a component. */
export const storage = storageWith("ipam-host-local");
