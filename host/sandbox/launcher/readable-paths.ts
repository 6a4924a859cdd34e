// The files that Node loads before the first line of its script: the program, its interpreter (ld.so) and its shared libraries.

import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";

/** The directories of Node's shared libraries, as this process has them. */
let libraryDirectories: readonly string[] | undefined;

/**
 * The directories of the libraries that this process has mapped, and their names without links: ld.so looks for a library in both. This process
 * runs the same Node.
 */
function directoriesOfLibraries(): readonly string[] {
  libraryDirectories ??= findLibraries(readFileSync("/proc/self/maps", "utf8"));
  return libraryDirectories;
}

/**
 * The interpreter and the directories of libraries in the text of /proc/PID/maps. Where `/lib` is a link to `usr/lib`, ld.so looks for a library under
 * both names. The interpreter has a fixed path in the program, whatever its directory is really called.
 */
export function findLibraries(maps: string): readonly string[] {
  const found = new Set<string>();
  for (const line of maps.split("\n")) {
    const path = line.slice(line.indexOf("/"));
    if (!line.includes("/") || !/\.so(?:\.[\d.]+)?$/u.test(path)) continue;
    found.add(dirname(path));
    if (path.startsWith("/usr/lib")) found.add(dirname(path).slice("/usr".length));
    const name = basename(path);
    if (name.startsWith("ld-")) for (const directory of ["/lib64", "/lib"]) found.add(`${directory}/${name}`);
  }
  return withoutNested([...found].filter(exists));
}

function exists(path: string): boolean {
  try {
    return realpathSync(path) !== "";
  } catch {
    return false;
  }
}

/** The paths without those that lie in another one. */
export function withoutNested(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && path.startsWith(`${other}/`)));
}

/** Paths that the sandbox process may execute: Node and its libraries. A program that is built into the launcher has no path. */
export function executablePaths(program: string): readonly string[] {
  return [...(isAbsolute(program) ? [program] : []), ...directoriesOfLibraries()];
}
