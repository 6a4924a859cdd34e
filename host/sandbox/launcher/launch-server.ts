// The launch server (serve.c): the process beside the daemon that starts the daemon's sandbox processes. It alone keeps the capabilities that change a
// process' user, and it starts one program only, in one jail. A daemon that was taken over can become no other user by it.

import type { UidRange } from "../../../src/configuration/keys/sandbox-uids.ts";
import { jailArguments, type LaunchServer, type ProgramOfJail } from "./jail.ts";

/** launcher.h: SERVER_FD. */
const serverDescriptor = 3;
/**
 * The variables in which serve.c tells the daemon the launch server's pid, its number of uids, the ABI of Landlock (0: there is none), and whether the
 * daemon's filter of system calls forbids links (1: it does).
 */
const variables = {
  server: "PLEXUS_LAUNCH_SERVER",
  uids: "PLEXUS_LAUNCH_UIDS",
  landlock: "PLEXUS_LANDLOCK",
  noLinks: "PLEXUS_NO_LINKS",
} as const;

/** The rights and the launch server that the launcher has left to the daemon that it executed. */
export interface ConfinedDaemon {
  /** Undefined: there is nothing that the daemon would ask for. */
  readonly server: LaunchServer | undefined;
  /** Whether the server starts sandbox processes: it may change users, and `--sandbox-uids same` was not chosen. */
  readonly launches: boolean;
  /** The ABI of Landlock that confines this process; 0: none. */
  readonly landlock: number;
  /** Whether this process can make no link, device or pipe: a filter of system calls, on any kernel with seccomp. */
  readonly makesNoLinks: boolean;
}

/** Whether the launcher has executed this process. */
export function isConfined(environment: NodeJS.ProcessEnv): boolean {
  return environment[variables.server] !== undefined;
}

/** Takes the launcher's variables out of the environment. */
export function takeConfinement(environment: NodeJS.ProcessEnv): ConfinedDaemon {
  const [pid = 0, uids = 0, landlock = 0, noLinks = 0] = Object.values(variables).map((name) => Number(environment[name] ?? 0));
  for (const name of Object.values(variables)) delete environment[name];
  return {
    server: pid > 0 ? { descriptor: serverDescriptor, pid } : undefined,
    launches: uids > 0,
    landlock,
    makesNoLinks: noLinks > 0,
  };
}

/**
 * The launcher's arguments with which it executes the program `daemon` without rights, beside a launch server for `program`. The numbers that follow the
 * program's command are those of each request. Without `uids` there is no launch server. `zygote`: the command of its zygote, if it has one.
 */
export function serveArguments(
  uids: UidRange | undefined,
  program: ProgramOfJail,
  bounds: DaemonBounds,
  daemon: readonly string[],
  zygote: readonly string[] = [],
): readonly string[] {
  const warm = zygote.flatMap((argument) => ["--zygote", argument]);
  return [
    "--serve",
    ...jailArguments(uids, program),
    ...boundsArguments(bounds),
    ...warm,
    "--",
    ...program.command,
    "--",
    ...daemon,
  ];
}

/** The work that the daemon leaves to its launch server, and the files that it may change itself, beside the options of the jail. */
export interface DaemonBounds {
  /** The file that the launch server changes in the daemon's place (configuration.c); undefined: the daemon writes none. */
  readonly configuration: WrittenConfiguration | undefined;
  /** Files and directories that the daemon may change, by Landlock; empty: all. */
  readonly writable: readonly string[];
  /** Undefined: the daemon keeps the user that it was started with. */
  readonly user?: DaemonUser | undefined;
  /** A further group of a daemon that keeps its user. */
  readonly group?: number | undefined;
}

/** The daemon's file of the runtime's network configuration. */
export interface WrittenConfiguration {
  readonly path: string;
  /** Under which the runtime calls Plexus. */
  readonly type: string;
  /** Path of root's template, whose members Plexus' step keeps (template.c). */
  readonly template: string;
  /** The kubeconfig that the daemon may name where the template names none. */
  readonly kubeconfig: string;
}

/** A user of the daemon's own, and what that user shares with root (share.c, sockets.c). */
export interface DaemonUser extends SharedDirectories, SocketsOfRoot {
  /** Also the number of its group. */
  readonly uid: number;
}

/** The directories that root shares with the daemon. */
export interface SharedDirectories {
  /** Directories that are shared with all that is in them. */
  readonly shared: readonly string[];
  /** Directories that are shared without the directories in them. */
  readonly sharedAlone: readonly string[];
}

/** The sockets in root's directories. */
export interface SocketsOfRoot {
  /** Sockets to which the daemon connects. */
  readonly connects: readonly string[];
  /** Sockets on which the daemon listens. */
  readonly listens: readonly string[];
}

/** The launcher's options for a daemon. */
export function boundsArguments({ configuration, writable, user, group }: DaemonBounds): readonly string[] {
  const file = configuration === undefined ? [] : configurationArguments(configuration);
  const rights = user === undefined ? (group === undefined ? [] : ["--join", String(group)]) : userArguments(user);
  return [...file, ...writable.flatMap((path) => ["--write", path]), ...rights];
}

function configurationArguments({ path, type, template, kubeconfig }: WrittenConfiguration): readonly string[] {
  return ["--configuration", path, "--type", type, "--template", template, "--kubeconfig", kubeconfig];
}

function userArguments({ uid, shared, sharedAlone, connects, listens }: DaemonUser): readonly string[] {
  return [
    "--daemon-uid",
    String(uid),
    ...shared.flatMap((path) => ["--share", path]),
    ...sharedAlone.flatMap((path) => ["--share-directory", path]),
    ...connects.flatMap((path) => ["--connect", path]),
    ...listens.flatMap((path) => ["--listen", path]),
  ];
}

/** The launcher's arguments with which it asks the launch server for a change of the configuration, and ends with the errno. */
export function askFileArguments(verb: "write" | "remove" | "read", name: string): readonly string[] {
  return ["--ask", "file", verb, name];
}

/** A process that the launch server is asked for. */
export interface AskedProcess {
  readonly memoryBytes: number;
  /** The process' cgroup, if it has one. */
  readonly cgroup: string | undefined;
  /** The last arguments of its command. */
  readonly numbers: readonly number[];
  /** Whether it is to be a copy of the zygote. */
  readonly isCopy?: boolean;
}

/** The launcher's arguments with which it asks the launch server at descriptor 3, and ends as the sandbox process ends. */
export function askArguments({ memoryBytes, cgroup, numbers, isCopy = false }: AskedProcess): readonly string[] {
  return ["--ask", ...(isCopy ? ["warm"] : []), String(memoryBytes), cgroup ?? "", ...numbers.map(String)];
}
