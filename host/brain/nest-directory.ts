// Where the hands put the links and the socket for the nested calls of one call's steps.

import { join } from "node:path";
import type { AttachmentId } from "../../src/cni/attachment.ts";
import { shortHash } from "../files/short-hash.ts";

/**
 * One directory for one container's calls, which come one after the other, so that a directory which a crash left is found and
 * emptied by the next call of the same container. The name is short because a socket's path has at most 107 bytes.
 */
export function nestDirectory(runDirectory: string, id: AttachmentId, network: string): string {
  return join(runDirectory, shortHash(`${id.containerId}@${network}@${id.ifname}`));
}

let calls = 0;

/**
 * A directory for one call without a container, STATUS or GC: any number of them run side by side. The hands remove it; one that a
 * crash left is emptied and used again when the process id comes round.
 */
export function nestOfCall(runDirectory: string): string {
  calls += 1;
  return join(runDirectory, `call-${process.pid}-${calls}`);
}
