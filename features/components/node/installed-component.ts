// A component's file on this node.

import { readFileSync, statSync } from "node:fs";
import { digestOf } from "../registry/artifact-store.ts";

/** The bytes of a regular file of at most `maxBytes`; undefined if there is none. Throws the errors of node:fs other than ENOENT. */
export function readComponentBytes(path: string, maxBytes: number): Uint8Array | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > maxBytes) throw new Error(`${path} is not a regular file of at most ${maxBytes} bytes`);
  return readFileSync(path);
}

/** The digest of the file's bytes; undefined if the file does not exist. Throws as `readComponentBytes`. */
export function installedDigest(path: string, maxBytes: number): string | undefined {
  const bytes = readComponentBytes(path, maxBytes);
  return bytes === undefined ? undefined : digestOf(bytes);
}
