// Where the hands put the links and the socket for nested calls of one container's steps.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { CniCall } from "../../src/cni/environment.ts";

/**
 * One directory for one call's identity, so that a directory which a crash left is found and emptied by the next call of the
 * same container. The name is short because a socket's path has at most 107 bytes.
 */
export function nestDirectory(runDirectory: string, call: CniCall, network: string): string {
  const identity = `${call.containerId}@${network}@${call.ifname}`;
  return join(runDirectory, createHash("sha256").update(identity).digest("hex").slice(0, 20));
}
