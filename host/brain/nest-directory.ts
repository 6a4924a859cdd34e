// Where the hands put the links and the socket for the nested calls of one call's steps.

import { closeSync, constants, fstatSync, openSync, readdirSync, rmSync } from "node:fs";
import type { AttachmentId } from "../../src/cni/attachment.ts";
import { shortHash } from "../files/short-hash.ts";
import { tryFlock } from "../libc/libc.ts";

const prefix = "call-";

/**
 * One directory for one container's calls, which come one after the other, so that a directory which a crash left is found and
 * emptied by the next call of the same container. The name is short because a socket's path has at most 107 bytes.
 */
export function nestDirectory(runDirectory: string, id: AttachmentId, network: string): string {
  return `${runDirectory}/${shortHash(`${id.containerId}@${network}@${id.ifname}`)}`;
}

/** Removes what the hands of a container's call left there when they were killed. Best effort: the container's next call does it, too. */
export function removeNest(runDirectory: string, id: AttachmentId, network: string): void {
  try {
    rmSync(nestDirectory(runDirectory, id, network), { recursive: true, force: true });
  } catch {
    // E.g. read-only for a daemon, which leaves it to the hands.
  }
}

/** How old a nest must be that nobody holds any more, in ms: the hands hold theirs a moment after they have made it. */
const settled = 60_000;

let calls = 0;

/** A directory for one call without a container, STATUS or GC: any number of them run side by side. The hands remove it. */
export function nestOfCall(runDirectory: string): string {
  calls += 1;
  return `${runDirectory}/${prefix}${process.pid}-${calls}`;
}

/** Removes the nests of such calls whose hands were killed; hands that live hold theirs by a lock. Best effort. */
export function removeAbandonedNests(runDirectory: string): void {
  try {
    for (const name of readdirSync(runDirectory)) if (name.startsWith(prefix)) removeIfAbandoned(`${runDirectory}/${name}`);
  } catch {
    // No such directory, or not ours: nothing to be removed.
  }
}

function removeIfAbandoned(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const abandoned = Date.now() - fstatSync(fd).mtimeMs > settled && tryFlock(fd, false) === 0;
    if (abandoned) rmSync(path, { recursive: true, force: true });
  } finally {
    closeSync(fd);
  }
}
