// Where the hands put the links and the socket for nested calls of one container's steps.

import { join } from "node:path";
import type { CniCall } from "../../src/cni/environment.ts";
import { shortHash } from "../files/short-hash.ts";

/**
 * One directory for one call's identity, so that a directory which a crash left is found and emptied by the next call of the
 * same container. The name is short because a socket's path has at most 107 bytes.
 */
export function nestDirectory(runDirectory: string, call: CniCall, network: string): string {
  return join(runDirectory, shortHash(`${call.containerId}@${network}@${call.ifname}`));
}
