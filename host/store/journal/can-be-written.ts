// Whether a state directory could take another journal entry: without one nothing can be attached.

import { access, constants, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { getSystemErrorName } from "node:util";

/** Bytes below which a file system counts as full: no entry of a pod with many networks would fit. */
const leastFree = 1024 * 1024;

/** Why it couldn't: rights or space of the directory, or of the nearest one above it that is there, for it is made with the first call. */
export async function whyUnwritable(directory: string): Promise<string | undefined> {
  for (let path = directory; ; path = dirname(path)) {
    try {
      await access(path, constants.W_OK | constants.X_OK);
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize < leastFree ? `its file system has ${bavail * bsize} bytes left` : undefined;
    } catch (error) {
      const errno = error instanceof Error && "errno" in error && typeof error.errno === "number" ? error.errno : 0;
      const name = errno === 0 ? String(error) : getSystemErrorName(errno);
      if (name !== "ENOENT" || path === dirname(path)) return `${path} can't be written: ${name}`;
    }
  }
}
