// Where the hands put the links and the socket for nested calls of one container's steps.

import { join } from "node:path";
import type { CniCall } from "../../src/cni/environment.ts";

/**
 * One directory for one call's identity, so that a directory which a crash left is found and emptied by the next call of the
 * same container. The name is short because a socket's path has at most 107 bytes.
 */
export function nestDirectory(runDirectory: string, call: CniCall, network: string): string {
  return join(runDirectory, shortHash(`${call.containerId}@${network}@${call.ifname}`));
}

/** FNV-1a of 64 bits. Who chooses container IDs is root already, so nothing better is needed; node:crypto takes ms to load. */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
