// Nested-call directories. The shim makes the links and the socket for the nested calls of one call's steps there. The engine chooses the name;
// the shim makes the directory where no engine reaches it. A shim of an earlier release made it in the run directory, and may have left it there.

import { closeSync, constants, fstatSync, openSync, readdirSync, rmSync } from "node:fs";
import type { AttachmentId } from "../../../src/cni/attachment.ts";
import { shortHash } from "../../store/files/short-hash.ts";
import type { Environment } from "../../protocol/fields.ts";
import { tryFlock } from "../../system/libc/libc.ts";

const prefix = "call-";
/** The name of a container's directory: the output of `shortHash`. */
const containerDirectory = /^[0-9a-f]{16}$/u;

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

/** Removes the directory that an earlier release's shim of an attachment left when it was killed. Best effort. */
export function removeNestedCallDirectory(runDirectory: string, id: AttachmentId, network: string): void {
  try {
    rmSync(`${runDirectory}/${nestedCallDirectoryOf(id, network)}`, { recursive: true, force: true });
  } catch {
    // For example read-only for a daemon. The shim removes the directory then.
  }
}

/** Milliseconds after which a directory without a lock counts as unused. The shim locks its directory a moment after making it. */
const minUnusedAgeMs = 60_000;

let calls = 0;

/**
 * The name of a directory for one call without a container (STATUS or GC). Any number of these calls run at once. The shim removes the
 * directory.
 */
export function temporaryNestedCallDirectory(): string {
  calls += 1;
  return `${prefix}${process.pid}-${calls}`;
}

/** The directories whose shim, of an earlier release, was killed before it could remove them. A running one holds a lock on its directory. */
export function unusedNestedCallDirectories(runDirectory: string): readonly string[] {
  try {
    return readdirSync(runDirectory)
      .filter((name) => name.startsWith(prefix) || containerDirectory.test(name))
      .map((name) => `${runDirectory}/${name}`)
      .filter(isUnused);
  } catch {
    // No such directory, or no permission to read it: there is nothing that this process could remove.
    return [];
  }
}

/** Removes unused directories. No call with a container may run meanwhile: it may be about to use its own. Best effort. */
export function removeUnusedNestedCallDirectories(runDirectory: string): void {
  for (const path of unusedNestedCallDirectories(runDirectory)) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // For example read-only for a daemon.
    }
  }
}

function isUnused(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    return Date.now() - fstatSync(fd).mtimeMs > minUnusedAgeMs && tryFlock(fd, false) === 0;
  } finally {
    closeSync(fd);
  }
}
