// A command of plexusctl: its description, and the function that runs it.

import type { CommandSpec } from "../../../src/command-line/command-spec.ts";
import type { CommandLine, CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import type { CredentialSource } from "../../cluster/kube/credentials.ts";
import type { ExitStatus } from "./exit-statuses.ts";

/** A command's output and exit status. */
export interface CommandResult {
  readonly stdout: string;
  /** A line about the error, if there is any. */
  readonly stderr?: string;
  readonly status: ExitStatus;
}

/** A command line that the command's description allows. */
export interface Invocation extends CommandLine {
  /** Whether stdout may have colours. */
  readonly colour: boolean;
  /** The credentials for a cluster that the line's options name (`accessOptions`), or the mistake that they name none. */
  readonly credentials: () => Promise<CredentialSource | CommandLineMistake>;
}

/** A command. `run` never rejects for an error that the administrator can correct. Its module loads its work lazily, so that help is fast. */
export interface Command extends CommandSpec {
  readonly run: (line: Invocation) => Promise<CommandResult | CommandLineMistake>;
}

/** The result of a command that failed. */
export function failure(stderr: string): CommandResult {
  return { stdout: "", stderr, status: 1 };
}
