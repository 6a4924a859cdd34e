// The launch server (serve.c): the process beside the daemon that starts the daemon's sandbox processes. It alone keeps the capabilities that change a
// process' user, and it starts one program only, in one jail. A daemon that was taken over can become no other user by it.

import type { UidRange } from "../../../src/configuration/wasm-configuration.ts";
import { jailArguments, type LaunchServer, type ProgramOfJail } from "./jail.ts";

/** launcher.h: SERVER_FD. */
const serverDescriptor = 3;
/** The variable in which serve.c tells the daemon the launch server's pid. */
const variable = "PLEXUS_LAUNCH_SERVER";

/** The launch server that this process was executed with; undefined without one. Takes the variable out of the environment. */
export function takeLaunchServer(environment: NodeJS.ProcessEnv): LaunchServer | undefined {
  const pid = Number(environment[variable] ?? 0);
  delete environment[variable];
  return Number.isInteger(pid) && pid > 0 ? { descriptor: serverDescriptor, pid } : undefined;
}

/**
 * The launcher's arguments with which it executes the program `daemon` without rights, beside a launch server for `program`. The numbers that follow the
 * program's command are those of each request.
 */
export function serveArguments(uids: UidRange, program: ProgramOfJail, daemon: readonly string[]): readonly string[] {
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
