// The name of the veth's end on the node. Operations of one call need the name before the kernel could choose one.

import { Attachment } from "plexus/abi/types";
import { hex } from "plexus/hex";

/**
 * `veth` and 32 bits of FNV-1a over the attachment's identity, as random names have 32 bits. The namespace is part of it: the kernel may still remove the
 * end of an earlier namespace when the same container is attached again.
 */
export function nodeEndName(attachment: Attachment): string {
  const netns = attachment.netns;
  const identity = `${attachment.containerId}/${attachment.ifname}/${netns === null ? "" : netns}`;
  let hash: u32 = 0x811c9dc5;
  for (let i = 0; i < identity.length; i++) hash = (hash ^ <u32>identity.charCodeAt(i)) * 0x01000193;
  return `veth${hex(hash).padStart(8, "0")}`;
}
