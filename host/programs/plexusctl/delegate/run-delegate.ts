// plexusctl delegate: runs the kit's program, or its part that needs only the sandbox.

import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRoot } from "../../../store/files/path-owners.ts";
import { type CommandResult, failure } from "../../../node/command-line/command.ts";
import { exitStatuses, type ExitStatus } from "../../../node/command-line/exit-statuses.ts";
import { foreignCode } from "./foreign-code.ts";
import { delegateCommands, kitIsMissing, kitProgram } from "./programs.ts";

/** A command of plexus-delegate. */
export interface DelegateCommand {
  readonly name: string;
  /** Whether the command needs the kit's compiler or templates. */
  readonly needsKit: boolean;
}

/** Runs the command with the streams of this process. Status 3: the kit is missing. */
export function runDelegate({ name, needsKit }: DelegateCommand, args: readonly string[]): CommandResult {
  const home = dirname(realpathSync(process.argv[1] ?? ""));
  const program = needsKit ? kitProgram([process.cwd(), home]) : join(home, "engine", delegateCommands);
  if (program === undefined) return { stdout: "", stderr: kitIsMissing(name, process.cwd()), status: 3 };
  const foreign = needsKit && isRoot() ? foreignCode(program, [process.cwd(), ...args]) : undefined;
  if (foreign !== undefined)
    return failure(
      `delegate ${name} as root would execute code that another user can change: ${foreign}. To do: run it as the user whose files they are ` +
        `(sudo -u USER plexusctl delegate ${name}), or keep the kit and the delegate in a directory of root`,
    );
  const command = ["--disable-warning=ExperimentalWarning", program, name, ...args];
  const { status, error } = spawnSync(process.execPath, command, { stdio: "inherit" });
  if (error !== undefined) return failure(`${program} does not start: ${error.message}`);
  return { stdout: "", status: isExitStatus(status) ? status : 1 };
}

function isExitStatus(status: number | null): status is ExitStatus {
  return status !== null && Object.hasOwn(exitStatuses, status);
}
