// The jail of a sandbox process: what the launcher is told to set up, and which controls must hold.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultUids, type SandboxUids, type UidRange } from "../../../src/configuration/keys/sandbox-uids.ts";
import type { Isolation } from "../../../src/configuration/wasm-configuration.ts";
import type { SandboxCgroups } from "./cgroups.ts";
import { type Control, controls } from "./controls.ts";
import { executablePaths, withoutNested } from "./readable-paths.ts";
import { systemCallFilter } from "./system-calls.ts";

/** The connection to a launch server (launch-server.ts). */
export interface LaunchServer {
  /** Its descriptor in this process. */
  readonly descriptor: number;
  readonly pid: number;
  /** Whether it has a zygote, so that it can be asked for copies. */
  readonly hasZygote?: boolean;
}

/** A jail. */
export interface Jail {
  /** Absolute path of the launcher. */
  readonly launcher: string;
  readonly uids: SandboxUids;
  /** A process without one of these controls is not used. */
  readonly required: readonly Control[];
  /** Makes a cgroup for each process; undefined: no cgroup is delegated to the engine. */
  readonly cgroups?: SandboxCgroups | undefined;
  /** Starts the processes in this jail; undefined: this process executes the launcher, with its own rights. */
  readonly server?: LaunchServer | undefined;
}

/** A program that a jail is made for. */
export interface ProgramOfJail {
  /** The program and its arguments. */
  readonly command: readonly [program: string, ...rest: string[]];
  /** A directory that the program may read. */
  readonly readable: string;
}

/** The resources of a process in the jail. */
export interface JailedProgram extends ProgramOfJail {
  /** Bytes of memory that the process may have writable. */
  readonly memoryBytes: number;
  /** The process' cgroup, if it has one. */
  readonly cgroup?: string | undefined;
}

/** <sched.h>: CLONE_NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWNS. */
const namespaces = 0x1000_0000 | 0x2000_0000 | 0x4000_0000 | 0x0800_0000 | 0x0400_0000 | 0x0002_0000;

/** <sys/resource.h>, the same on x86-64 and arm64. serve.c has DATA, too. */
const resources = { FSIZE: 1, DATA: 2, CORE: 4, NPROC: 6, NOFILE: 7, MEMLOCK: 8, MSGQUEUE: 12, NICE: 13, RTPRIO: 14 } as const;

/** Maximum descriptors and threads of Node, which uses some 20 of each. */
const maxDescriptors = 64;
export const maxThreads = 64;

/** The launcher's arguments for a program. */
export function launcherArguments({ uids }: Jail, program: JailedProgram): readonly string[] {
  const { command, memoryBytes, cgroup } = program;
  const ownUids = uids === "same" || !canBecome(uids) ? undefined : uids;
  return [
    ...jailArguments(ownUids, program),
    "--limit",
    `${resources.DATA}:${memoryBytes}`,
    ...(cgroup === undefined ? [] : ["--cgroup", cgroup]),
    "--",
    ...command,
  ];
}

/** The launcher's options that are the same for each process of a program. */
export function jailArguments(uids: UidRange | undefined, { command: [program], readable }: ProgramOfJail): readonly string[] {
  const limits: readonly (readonly [number, number])[] = [
    [resources.FSIZE, 0],
    [resources.CORE, 0],
    [resources.NOFILE, maxDescriptors],
    [resources.MEMLOCK, 0],
    [resources.MSGQUEUE, 0],
    [resources.NICE, 0],
    [resources.RTPRIO, 0],
    // Counted for all processes of the uid, so it needs a uid of its own.
    ...(uids === undefined ? [] : [[resources.NPROC, maxThreads] as const]),
  ];
  const executable = executablePaths(program);
  const readOnly = withoutNested([...executable, readable]).filter((path) => !executable.includes(path));
  const filter = systemCallFilter();
  return [
    "--namespaces",
    namespaces.toString(16),
    ...(uids === undefined ? [] : ["--uids", `${uids.first}:${uids.count}`]),
    ...readOnly.flatMap((path) => ["--read", path]),
    ...executable.flatMap((path) => ["--execute", path]),
    ...limits.flatMap(([resource, value]) => ["--limit", `${resource}:${value}`]),
    ...(filter === undefined ? [] : ["--filter", filter]),
  ];
}

/** The administrator's settings of a jail. */
export interface JailSettings {
  readonly level: Isolation;
  readonly uids: SandboxUids;
  /** Whether a process is refused that has the engine's uid, although the uids are not `same`. */
  readonly requiresOwnUid?: boolean;
}

/** The jail of an installation, whose directory is `home`. */
export function installedJail(home: string, settings: JailSettings): Jail {
  return { launcher: join(home, "bin", "plexus-sandbox"), uids: settings.uids, required: requiredControls(settings) };
}

/** The controls that must hold. `process`: every control may be missing where the node lacks it, but the uid where it is required. */
function requiredControls({ level, uids, requiresOwnUid = false }: JailSettings): readonly Control[] {
  if (level === "strict") return controls;
  return requiresOwnUid && uids !== "same" ? ["own-uid"] : [];
}

/** Whether the engine may change to these uids: capabilities and the maps of its user namespace. */
export function canBecome({ first, count }: UidRange): boolean {
  try {
    const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0"}`);
    const needed = (1n << 6n) | (1n << 7n); // CAP_SETGID, CAP_SETUID
    return (
      (effective & needed) === needed &&
      ["uid_map", "gid_map"].every((name) => covers(readFileSync(`/proc/self/${name}`, "utf8"), first, count))
    );
  } catch {
    return false;
  }
}

/** Whether one line of a map (first id inside, first id outside, count) has the whole range. */
function covers(map: string, first: number, count: number): boolean {
  return map.split("\n").some((line) => {
    const [inside = NaN, , size = NaN] = line.trim().split(/\s+/u).map(Number);
    return first >= inside && first + count <= inside + size;
  });
}

/** The jail of this tree's own build, for programs that are not installed: tests and benchmarks. */
export function defaultJail(): Jail {
  const launcher = fileURLToPath(new URL("../../../dist/bin/plexus-sandbox", import.meta.url));
  return { launcher, uids: defaultUids, required: [] };
}

/** The least uid that a sandbox process of these uids has here: the first of the range, or the engine's own. */
export function leastUid(uids: SandboxUids): number {
  return uids !== "same" && canBecome(uids) ? uids.first : (process.getuid?.() ?? 0);
}
