// Where the hands put the links and the socket for the nested calls of one call's steps.

import { closeSync, constants, fstatSync, openSync, readdirSync, rmSync } from "node:fs";
import type { AttachmentId } from "../../src/cni/attachment.ts";
import { shortHash } from "../files/short-hash.ts";
import { tryFlock } from "../libc/libc.ts";

const prefix = "call-";
/** As `shortHash` gives them. */
const ofContainer = /^[0-9a-f]{16}$/u;

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

/** Nests whose hands were killed before they could remove them: those that live hold theirs by a lock. */
export function abandonedNests(runDirectory: string): readonly string[] {
  try {
    return readdirSync(runDirectory)
      .filter((name) => name.startsWith(prefix) || ofContainer.test(name))
      .map((name) => `${runDirectory}/${name}`)
      .filter(isAbandoned);
  } catch {
    // No such directory, or not ours: nothing to be removed.
    return [];
  }
}

/** Removes them; while no call with a container is under way, which may be about to take up its own. Best effort. */
export function removeAbandonedNests(runDirectory: string): void {
  for (const path of abandonedNests(runDirectory)) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // E.g. read-only for a daemon.
    }
  }
}

function isAbandoned(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    return Date.now() - fstatSync(fd).mtimeMs > settled && tryFlock(fd, false) === 0;
  } finally {
    closeSync(fd);
  }
}
