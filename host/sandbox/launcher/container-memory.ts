// The memory that the engine's cgroup may have: the container's limit, a systemd unit's, or none. Sandbox processes are in the same cgroup or below
// it, so their limits derive from it: `memory.oom.group` of a container ends the engine together with a process that uses up the memory.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Files of limits larger than this have no limit: version 1 writes a number close to 2^63. */
const noLimit = 2 ** 50;

/** A mount of a cgroup hierarchy: `root` is the path of the cgroup that `point` shows. */
interface Mount {
  readonly root: string;
  readonly point: string;
}

/** Bytes that the cgroup of this process and the cgroups above it permit, as far as this mount namespace shows them; undefined: no limit. */
export function containerMemoryBytes(
  membership = text("/proc/self/cgroup"),
  mounts = text("/proc/self/mountinfo"),
  read: (path: string) => string = text,
): number | undefined {
  const limits = [
    ...limitsOf(/^0::(.*)$/mu.exec(membership)?.[1], mountOf(mounts, " - cgroup2 "), "memory.max", read),
    ...limitsOf(
      /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/mu.exec(membership)?.[1],
      mountOf(mounts, " - cgroup ", "memory"),
      "memory.limit_in_bytes",
      read,
    ),
  ];
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** The limits of a cgroup and of those above it up to the mount. */
function limitsOf(
  path: string | undefined,
  mount: Mount | undefined,
  file: string,
  read: (path: string) => string,
): readonly number[] {
  if (path === undefined || mount === undefined) return [];
  const { root, point } = mount;
  // A path outside of the mount belongs to a cgroup that this namespace does not show; the mount itself is the container's.
  const below = root === "/" ? path : path.startsWith(`${root}/`) ? path.slice(root.length) : "/";
  const limits: number[] = [];
  for (let each = join("/", below); ; each = dirname(each)) {
    const limit = Number.parseInt(read(join(point, each, file)), 10);
    if (limit > 0 && limit < noLimit) limits.push(limit);
    if (each === "/") return limits;
  }
}

function mountOf(mounts: string, type: string, controller?: string): Mount | undefined {
  const line = mounts
    .split("\n")
    .find(
      (each) =>
        each.includes(type) && (controller === undefined || (each.split(" ").at(-1) ?? "").split(",").includes(controller)),
    );
  const [, , , root, point] = line?.split(" ") ?? [];
  return root === undefined || point === undefined ? undefined : { root, point };
}

/** The file's content; empty if it cannot be read. */
function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
