// Cgroups of one node, in every hierarchy of cgroup v1 or in the one of v2.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const mounted = "/sys/fs/cgroup";

function hierarchies(): readonly string[] {
  const all = [mounted, ...readdirSync(mounted).map((name) => join(mounted, name))];
  const roots = all.filter((directory) => existsSync(join(directory, "cgroup.procs")));
  // With v2 the first entry is the only hierarchy; the others are its cgroups.
  return roots[0] === mounted ? [mounted] : roots;
}

/** Makes `path`, and `path/node` for the node's own processes. */
export function makeCgroups(path: string): void {
  for (const hierarchy of hierarchies()) {
    for (const each of [path, `${path}/node`]) {
      mkdirSync(join(hierarchy, each));
      // A new cpuset of v1 has no processors and no memory.
      for (const file of ["cpuset.cpus", "cpuset.mems"]) {
        const above = join(hierarchy, each, "..", file);
        if (existsSync(above)) writeFileSync(join(hierarchy, each, file), readFileSync(above));
      }
    }
  }
}

/** Removes `path` and all cgroups below it, whose processes have ended. */
export async function removeCgroups(path: string): Promise<void> {
  for (const hierarchy of hierarchies()) {
    const directory = join(hierarchy, path);
    if (!existsSync(directory)) continue;
    const below = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
    const deepestFirst = below.map((entry) => join(entry.parentPath, entry.name)).toSorted((a, b) => b.length - a.length);
    for (const each of [...deepestFirst, directory]) await removeEmptied(each);
  }
}

/** The kernel empties a cgroup shortly after the end of its last process. */
async function removeEmptied(directory: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      rmdirSync(directory);
      return;
    } catch (error) {
      const busy = error instanceof Error && "code" in error && error.code === "EBUSY";
      if (!busy || tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
