// The launch server (serve.c): the process beside the daemon that starts the daemon's sandbox processes. It alone keeps the capabilities that change a
// process' user, and it starts one program only, in one jail. A daemon that was taken over can become no other user by it.

import type { UidRange } from "../../../src/configuration/wasm-configuration.ts";
import { jailArguments, type LaunchServer, type ProgramOfJail } from "./jail.ts";

/** launcher.h: SERVER_FD. */
const serverDescriptor = 3;
/** The variables in which serve.c tells the daemon the launch server's pid, and the ABI of Landlock; 0: there is none. */
const variables = { server: "PLEXUS_LAUNCH_SERVER", landlock: "PLEXUS_LANDLOCK" } as const;

/** What the launcher has left to the daemon that it executed. */
export interface ConfinedDaemon {
  /** Undefined: the daemon may not change users, or `--sandbox-uids same` was chosen. */
  readonly server: LaunchServer | undefined;
  /** The ABI of Landlock that confines this process; 0: none. */
  readonly landlock: number;
}

/** Whether the launcher has executed this process. */
export function isConfined(environment: NodeJS.ProcessEnv): boolean {
  return environment[variables.server] !== undefined;
}

/** Takes the launcher's variables out of the environment. */
export function takeConfinement(environment: NodeJS.ProcessEnv): ConfinedDaemon {
  const [pid, landlock] = [variables.server, variables.landlock].map((name) => Number(environment[name] ?? 0));
  for (const name of Object.values(variables)) delete environment[name];
  return { server: pid === undefined || !(pid > 0) ? undefined : { descriptor: serverDescriptor, pid }, landlock: landlock ?? 0 };
}

/**
 * The launcher's arguments with which it executes the program `daemon` without rights, beside a launch server for `program`. The numbers that follow the
 * program's command are those of each request. Without `uids` there is no launch server.
 */
export function serveArguments(uids: UidRange | undefined, program: ProgramOfJail, daemon: readonly string[]): readonly string[] {
  return ["--serve", ...jailArguments(uids, program), "--", ...program.command, "--", ...daemon];
}

/** A process that the launch server is asked for. */
export interface AskedProcess {
  readonly memoryBytes: number;
  /** The process' cgroup, if it has one. */
  readonly cgroup: string | undefined;
  /** The last arguments of its command. */
  readonly numbers: readonly number[];
}

/** The launcher's arguments with which it asks the launch server at descriptor 3, and ends as the sandbox process ends. */
export function askArguments({ memoryBytes, cgroup, numbers }: AskedProcess): readonly string[] {
  return ["--ask", String(memoryBytes), cgroup ?? "", ...numbers.map(String)];
}
