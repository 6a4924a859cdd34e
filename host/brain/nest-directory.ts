// Where the hands put the links and the socket for nested calls of one container's steps.

import { join } from "node:path";
import type { AttachmentId } from "../../src/cni/attachment.ts";
import { shortHash } from "../files/short-hash.ts";

/**
 * One directory for one call's identity, so that a directory which a crash left is found and emptied by the next call of the
 * same container. The name is short because a socket's path has at most 107 bytes.
 */
export function nestDirectory(runDirectory: string, id: AttachmentId, network: string): string {
  return join(runDirectory, shortHash(`${id.containerId}@${network}@${id.ifname}`));
}
