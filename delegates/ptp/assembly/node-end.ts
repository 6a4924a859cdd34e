// The name of the veth's end on the node. Operations of one call need the name before the kernel could choose one.

/** `veth` and 32 bits of FNV-1a over the attachment's identity, as random names have 32 bits. */
export function nodeEndName(containerId: string, ifname: string): string {
  const identity = `${containerId}/${ifname}`;
  let hash: u32 = 0x811c9dc5;
  for (let i = 0; i < identity.length; i++) hash = (hash ^ <u32>identity.charCodeAt(i)) * 0x01000193;
  return `veth${hash.toString(16).padStart(8, "0")}`;
}
