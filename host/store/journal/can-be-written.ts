// Checks that a state directory can take another journal entry: without one nothing can be attached.

import { dirname } from "node:path";
import { getSystemErrorName } from "node:util";

/** Bytes below which a file system counts as full: the entry of a pod with many networks would not fit. */
const minFreeBytes = 1024 * 1024;
/** Inodes below which a file system counts as full: an ADD makes a file for its entry, and two for each network. */
const minFreeInodes = 16;

/**
 * Why no entry can be written: missing rights, space or inodes of the directory. If the directory does not exist, its nearest existing
 * parent is checked, because the first call creates it.
 */
export async function whyUnwritable(directory: string): Promise<string | undefined> {
  // Loaded here: STATUS and the daemon ask this, and other one-shot calls need no `node:fs/promises` (2 ms of CPU).
  const { access, constants, statfs } = process.getBuiltinModule("node:fs/promises");
  for (let path = directory; ; path = dirname(path)) {
    try {
      await access(path, constants.W_OK | constants.X_OK);
      const { bavail, bsize, files, ffree } = await statfs(path);
      if (bavail * bsize < minFreeBytes) return `its file system has ${bavail * bsize} bytes left`;
      // A file system that makes inodes on demand, such as Btrfs, has 0 in all.
      return files > 0 && ffree < minFreeInodes ? `its file system has ${ffree} inodes left (df -i)` : undefined;
    } catch (error) {
      const errno = error instanceof Error && "errno" in error && typeof error.errno === "number" ? error.errno : 0;
      const name = errno === 0 ? String(error) : getSystemErrorName(errno);
      if (name !== "ENOENT" || path === dirname(path)) return `${path} can't be written: ${name}`;
    }
  }
}
