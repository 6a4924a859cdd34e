// A further network for pods of a cluster.

/**
 * A NetworkAttachmentDefinition of the namespace `default`: a bridge of its own, with addresses of 10.20.0.0/24 from the IPAM plugin, and
 * further plugins of its chain.
 */
export function storageWith(ipam: string, ...further: readonly { readonly type: string }[]) {
  const bridge = { type: "bridge", bridge: "br-storage", ipam: { type: ipam, ranges: [[{ subnet: "10.20.0.0/24" }]] } };
  const plugins = [bridge, ...further];
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name: "storage", namespace: "default" },
    spec: { config: JSON.stringify({ cniVersion: "1.0.0", name: "storage", plugins }) },
  };
}

/** The network with addresses from a component. */
export const storage = storageWith("ipam-host-local");
