// Replaces a file durably without blocking the thread, for writers off the path of a call.

import { dirname } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { removeQuietly, storeFault, temporaryOf } from "./durable-file.ts";
import { makeDirectory } from "./make-directory.ts";
import { modeIn } from "./shared-with-root.ts";

/**
 * As `writeDurably`: temporary file, fsync, rename, fsync of the directory (mode 0600, directory 0700). A crash or a power loss leaves the old
 * content or the new one. No other writer of `path` may run meanwhile. Fault STORE_FAILED.
 */
export async function replaceDurably(path: string, content: string): Promise<Result<void>> {
  // Loaded here: the one-shot engine has this function in its file, and its calls need no `node:fs/promises` (2 ms of CPU).
  const { open, rename } = process.getBuiltinModule("node:fs/promises");
  const directory = dirname(path);
  const temporary = temporaryOf(path);
  try {
    makeDirectory(directory);
    // The temporary file is always a new one: a crash may have left one, or another process may have put a link or a pipe there.
    removeQuietly(temporary);
    const mode = modeIn(directory, 0o600);
    const file = await open(temporary, "wx", 0o600);
    try {
      if (mode !== 0o600) await file.chmod(mode);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    const parent = await open(directory, "r");
    try {
      await parent.sync();
    } finally {
      await parent.close();
    }
    return ok(undefined);
  } catch (error) {
    removeQuietly(temporary);
    return failed(storeFault("writing", path, error));
  }
}
