// Paths of the kubelet on the node.

/** The kubelet's root directory. */
export const kubeletDirectory = "/var/lib/kubelet";

/** The socket of the pod-resources service in the kubelet's root directory. */
export const podResourcesSocket = (directory: string): string => `${directory}/pod-resources/kubelet.sock`;
