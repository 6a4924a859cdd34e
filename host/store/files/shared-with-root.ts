// Directories that a daemon with a user of its own shares with root's programs (host/sandbox/launcher/share.c). Such a directory is root's, and its set-group-ID
// bit and its mode give the daemon's group the rights of the owner. What either side makes there keeps these rights; elsewhere nothing changes.

import { closeSync, constants, fchmodSync, fstatSync, openSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./errno.ts";
import { statsOf } from "./stats-of.ts";

const setGroupId = 0o2000;
const groupWrites = 0o020;

/** The requests to root. */
export interface RootHelp {
  /** Shares what lies in a directory. False: root refuses. */
  readonly share: (directory: string) => boolean;
  /** The content of a file that root alone may read; undefined: root refuses. */
  readonly read: (path: string) => Buffer | undefined;
}

/** The daemon's connection to root: one for the process, like its user. */
let help: RootHelp | undefined;

/** Sets the requests by which this process asks root; undefined: there is nothing to ask. */
export function askRootWith(requests: RootHelp | undefined): void {
  help = requests;
}

/** The content of a file after `error`: that of root, if this process may not read the file. Throws the error otherwise. */
export function readByRoot(path: string, error: unknown): Buffer {
  const content = errnoOf(error) === "EACCES" ? help?.read(path) : undefined;
  if (content === undefined) throw error;
  return content;
}

/** Whether a directory is shared with a daemon's group. */
export function isShared({ mode }: Stats): boolean {
  return (mode & setGroupId) !== 0 && (mode & groupWrites) !== 0;
}

/** The mode of a new file or directory in `parent`: in a shared one, the group gets the owner's rights. */
export function modeIn(parent: string, mode: number): number {
  const stats = statsOf(parent);
  return stats !== undefined && isShared(stats) ? mode | ((mode & 0o700) >> 3) : mode;
}

/** As openSync with `O_CREAT` and `mode`, for a file that may be new: in a shared directory it gets the group's rights, whatever the umask. */
export function openMade(path: string, flags: number, mode: number): number {
  const wanted = modeIn(dirname(path), mode);
  const file = orAskRoot(path, () => openSync(path, flags, mode));
  if (wanted !== mode && (fstatSync(file).mode & 0o777) !== wanted) shareFile(file, wanted);
  return file;
}

/** Gives an open file the mode, if this process may: another process' file has it already. */
export function shareFile(file: number, mode: number): void {
  try {
    fchmodSync(file, mode);
  } catch (error) {
    if (errnoOf(error) !== "EPERM") {
      closeSync(file);
      throw error;
    }
  }
}

/**
 * Runs an operation on a file. If this process may not, because a program of root made the file or its directory, asks root to share the directory, and
 * tries once more. Throws the operation's error.
 */
export function orAskRoot<T>(path: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    if (help === undefined || errnoOf(error) !== "EACCES" || !help.share(dirname(path))) throw error;
    return operation();
  }
}

/** Flags of a new file that is written: no other process' file is opened. */
export const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
