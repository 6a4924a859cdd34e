// Whether another user can change what a path leads to: only then may root write a file there, or execute one.

import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";

/** Links that the kernel follows in one path. */
const maxLinks = 40;
const writableByOthers = 0o002;
const writableByGroup = 0o020;
const sticky = 0o1000;

/**
 * Whether this process is root for the whole machine. Root of a user namespace with few users has the rights of the user who made the namespace, and sees
 * the directories of the machine's root as no user's.
 */
export function isRoot(): boolean {
  if (process.geteuid?.() !== 0) return false;
  try {
    return /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "utf8"));
  } catch {
    return true;
  }
}

/**
 * The reason why another user can change what this path leads to; undefined if only root and the process' user can. Each part of the path counts, and
 * each part of the links in it: whoever owns a directory, or may write to it, can replace what is in it. Throws the errors of lstat(2).
 */
export function otherUserOf(path: string): string | undefined {
  const own = new Set([0, process.geteuid?.() ?? 0]);
  const ownGroups = new Set([0, process.getegid?.() ?? 0]);
  let at: string = sep;
  let links = 0;
  const rest = resolve(path)
    .split(sep)
    .filter((part) => part !== "");
  for (;;) {
    const what = lstatSync(at);
    const { uid, gid, mode } = what;
    if (!own.has(uid)) return `${at} belongs to the user ${uid}`;
    if (what.isSymbolicLink()) {
      links += 1;
      if (links > maxLinks) return `${at} is a loop of links`;
      const target = readlinkSync(at);
      rest.unshift(...(isAbsolute(target) ? target : join(dirname(at), target)).split(sep).filter((part) => part !== ""));
      at = sep;
      continue;
    }
    const groupWrites = (mode & writableByGroup) !== 0 && !ownGroups.has(gid);
    // In a sticky directory nobody replaces the file of another user; a file never is sticky in that sense.
    const isShared = groupWrites || (mode & writableByOthers) !== 0;
    if (isShared && !(what.isDirectory() && (mode & sticky) !== 0)) return `other users may write to ${at}`;
    const next = rest.shift();
    if (next === undefined) return undefined;
    at = join(at, next);
  }
}
