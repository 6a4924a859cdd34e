// A cgroup (version 2) for each sandbox process, where the engine's own cgroup is delegated to it: memory and processes are then bounded as the
// kernel counts them, and all of a process' memory counts, also that of sockets and of the page cache.

import { accessSync, chmodSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pid } from "node:process";

/** The controllers whose bounds a sandbox process gets. */
const wantedControllers = ["memory", "pids"] as const;

/** The bounds of one cgroup. */
export interface CgroupBounds {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly maxTasks: number;
}

/** A cgroup of one sandbox process. */
export interface SandboxCgroup {
  readonly directory: string;
  /** Removes the cgroup, which must have no process any more. */
  remove(): void;
}

/** Makes cgroups below the engine's own. */
export class SandboxCgroups {
  readonly #parent: string;
  readonly #controllers: readonly string[];
  #lastNumber = 0;

  /** `parent`: a cgroup that has no process and gives these controllers to its children. */
  private constructor(parent: string, controllers: readonly string[]) {
    this.#parent = parent;
    this.#controllers = controllers;
  }

  /**
   * Prepares a delegated cgroup: moves the engine's processes to a child of its own, because only a cgroup without processes may give controllers to its
   * children. Answers the reason if the cgroup is not delegated.
   */
  static open(
    parent: string | undefined = ownCgroup(),
    controllers: readonly string[] = wantedControllers,
    processes: readonly number[] = [pid],
  ): SandboxCgroups | string {
    if (parent === undefined) return "this process has no cgroup of version 2";
    try {
      const available = readFileSync(join(parent, "cgroup.controllers"), "utf8").trim().split(" ");
      const lacking = controllers.filter((name) => !available.includes(name));
      if (lacking.length > 0) return `${parent} has no controller ${lacking.join(", ")}`;
      const own = join(parent, "engine");
      mkdirSync(own, { recursive: true });
      for (const each of processes) writeFileSync(join(own, "cgroup.procs"), String(each));
      if (controllers.length > 0)
        writeFileSync(join(parent, "cgroup.subtree_control"), controllers.map((name) => `+${name}`).join(" "));
      return new SandboxCgroups(parent, controllers);
    } catch (error) {
      return `${parent} is not delegated: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** Makes the cgroup of the next process; undefined if the kernel refuses it. */
  add({ memoryBytes, maxTasks }: CgroupBounds): SandboxCgroup | undefined {
    this.#lastNumber += 1;
    const directory = join(this.#parent, `sandbox-${pid}-${this.#lastNumber}`);
    const bounds: Readonly<Record<string, readonly (readonly [file: string, value: string])[]>> = {
      // Without swap, and a process beyond its bound ends as a whole.
      memory: [
        ["memory.max", String(memoryBytes)],
        ["memory.oom.group", "1"],
      ],
      pids: [["pids.max", String(maxTasks)]],
    };
    const remove = (): void => {
      try {
        rmdirSync(directory);
      } catch {
        // The cgroup's last process is just ending: the empty cgroup is removed with the engine's own.
      }
    };
    try {
      mkdirSync(directory);
      // The launch server is root without root's rights, in the daemon's group.
      if (process.getuid?.() !== 0) chmodSync(join(directory, "cgroup.procs"), 0o664);
      for (const name of this.#controllers)
        for (const [file, value] of bounds[name] ?? []) writeFileSync(join(directory, file), value);
      return { directory, remove };
    } catch {
      remove();
      return undefined;
    }
  }
}

/**
 * Whether this process may divide its cgroup: it can write there, and no other process is in it than those of the engine. A cgroup that belongs to a login
 * session or to the whole node has further processes.
 */
export function isDelegated(directory: string | undefined = ownCgroup(), processes: readonly number[] = [pid]): boolean {
  if (directory === undefined) return false;
  try {
    accessSync(join(directory, "cgroup.subtree_control"), constants.W_OK);
    const found = readFileSync(join(directory, "cgroup.procs"), "utf8").trim().split("\n").map(Number);
    return found.includes(pid) && found.every((each) => processes.includes(each));
  } catch {
    return false;
  }
}

/** The directory of this process' cgroup of version 2; undefined: the kernel or the mount namespace has none. */
export function ownCgroup(
  membership = readFileSync("/proc/self/cgroup", "utf8"),
  mounts = readFileSync("/proc/self/mountinfo", "utf8"),
): string | undefined {
  const path = /^0::(.*)$/mu.exec(membership)?.[1];
  for (const line of mounts.split("\n")) {
    const [, , , root = "", point = ""] = line.split(" ");
    if (path === undefined || !line.includes(" - cgroup2 ")) continue;
    if (root === "/") return path === "/" ? point : join(point, path);
    if (path === root || path.startsWith(`${root}/`)) return join(point, path.slice(root.length));
  }
  return undefined;
}
