// A further network for pods of a cluster.

/** A NetworkAttachmentDefinition of the namespace `default`: a bridge of its own, with addresses of 10.20.0.0/24. */
export const storage = {
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name: "storage", namespace: "default" },
  spec: {
    config: JSON.stringify({
      cniVersion: "1.0.0",
      name: "storage",
      plugins: [
        { type: "bridge", bridge: "br-storage", ipam: { type: "ipam-host-local", ranges: [[{ subnet: "10.20.0.0/24" }]] } },
      ],
    }),
  },
};
