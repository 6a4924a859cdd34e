// Nested-call directories. The shim makes the links and the socket for the nested calls of one call's steps there. The engine chooses the name;
// the shim makes the directory where no engine reaches it.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import { shortHash } from "../../store/files/short-hash.ts";
import type { Environment } from "../../protocol/fields.ts";

/** The name of one attachment's nested-call directory. The name is short because a socket's path has at most 107 bytes. */
export function nestedCallDirectoryOf(id: AttachmentId, network: string): string {
  return shortHash(`${id.containerId}@${network}@${id.ifname}`);
}

/**
 * The name of the nested-call directory whose socket a nested call has in `PLEXUS_NESTED_CALLS`; empty if there is none. Plugins that this call
 * executes make their own nested calls through the same directory.
 */
export function nestedCallDirectoryIn(environment: Environment): string {
  return /\/([^/]+)\/\.sock$/u.exec(environment.get("PLEXUS_NESTED_CALLS") ?? "")?.[1] ?? "";
}

let calls = 0;

/**
 * The name of a directory for one call without a container (STATUS or GC). Any number of these calls run at once. The shim removes the
 * directory.
 */
export function temporaryNestedCallDirectory(): string {
  calls += 1;
  return `call-${process.pid}-${calls}`;
}
