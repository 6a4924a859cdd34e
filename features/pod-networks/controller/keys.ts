// The keys of PodNetworks, PodNetworkAttachments and pods in the queue of work and in the index of users.

/** The key of a PodNetwork. */
export function networkKey(name: string): string {
  return `network ${name}`;
}

/** The key of a PodNetworkAttachment. */
export function attachmentKey(namespace: string, name: string): string {
  return `attachment ${namespace}/${name}`;
}

/** Whether the key is a PodNetworkAttachment's. */
export function isAttachmentKey(key: string): boolean {
  return key.startsWith("attachment ");
}

/** The key of a pod that waits behind its gate. */
export function podKey(namespace: string, name: string): string {
  return `pod ${namespace}/${name}`;
}

/** Whether the key is a pod's. */
export function isPodKey(key: string): boolean {
  return key.startsWith("pod ");
}

/** The key of a resource claim that names PodNetworks. */
export function claimKey(namespace: string, name: string): string {
  return `claim ${namespace}/${name}`;
}

/** Whether the key is a claim's. */
export function isClaimKey(key: string): boolean {
  return key.startsWith("claim ");
}

/** The parts of a key. A PodNetwork and a definition of the API's root have an empty namespace. */
export function partsOf(key: string): { readonly kind: string; readonly namespace: string; readonly name: string } {
  const [kind = "", path = ""] = key.split(" ", 2);
  const slash = path.indexOf("/");
  return { kind, namespace: slash === -1 ? "" : path.slice(0, slash), name: path.slice(slash + 1) };
}
