// Directories that a configuration may name: those that an administrator listed, and what lies beneath one that ends in `/`.

import { isAbsolute, resolve } from "node:path";

/** Both absolute and normal; `directory` equals `root` or lies beneath it. */
export interface AllowedDirectory {
  /** The administrator's directory: it is trusted; what is beneath it is to be walked without following symbolic links. */
  readonly root: string;
  readonly directory: string;
}

/**
 * The directory wanted, if it is one of `entries`; for none wanted (absent or empty) the first of them. Else why not, as the end of a sentence.
 */
export function allowedDirectory(
  entries: readonly [string, ...string[]],
  wanted: string | undefined,
): AllowedDirectory | "is not an absolute path" | "is not an allowed directory" {
  const standard = resolve(entries[0]);
  if (wanted === undefined || wanted === "") return { root: standard, directory: standard };
  if (!isAbsolute(wanted) || wanted.includes("\0")) return "is not an absolute path";
  const directory = resolve(wanted);
  if (entries.some((entry) => entry === directory || resolve(entry) === directory)) return { root: directory, directory };
  const root = entries.find((entry) => entry.endsWith("/") && isBeneath(resolve(entry), directory));
  return root === undefined ? "is not an allowed directory" : { root: resolve(root), directory };
}

function isBeneath(root: string, path: string): boolean {
  return path.startsWith(root === "/" ? root : `${root}/`);
}
