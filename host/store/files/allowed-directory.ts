// A configuration may name the directories that an administrator listed. An entry that ends in `/` also allows every directory beneath it.

import { isAbsolute, resolve } from "node:path";

/** Both paths are absolute and normal; `directory` equals `root` or lies beneath it. */
export interface AllowedDirectory {
  /** The administrator's directory, which is trusted. The path beneath it must be walked without following symbolic links. */
  readonly root: string;
  readonly directory: string;
}

/**
 * The requested directory, if `entries` allow it; without a request (absent or empty) the first entry. A refusal is the end of a
 * sentence that begins with the path.
 */
export function allowedDirectory(
  entries: readonly [string, ...string[]],
  requested: string | undefined,
): AllowedDirectory | "is not an absolute path" | "is not an allowed directory" {
  const defaultDirectory = resolve(entries[0]);
  if (requested === undefined || requested === "") return { root: defaultDirectory, directory: defaultDirectory };
  if (!isAbsolute(requested) || requested.includes("\0")) return "is not an absolute path";
  const directory = resolve(requested);
  if (entries.some((entry) => entry === directory || resolve(entry) === directory)) return { root: directory, directory };
  const root = entries.find((entry) => entry.endsWith("/") && isBeneath(resolve(entry), directory));
  return root === undefined ? "is not an allowed directory" : { root: resolve(root), directory };
}

function isBeneath(root: string, path: string): boolean {
  return path.startsWith(root === "/" ? root : `${root}/`);
}
