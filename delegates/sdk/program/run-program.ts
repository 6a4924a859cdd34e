// Runs a command line of `plexus-delegate`.

import { readCommandLine, unknown } from "./command-line.ts";
import { type Command, CommandError, exitCode, type ExitCode, type Output } from "./command.ts";
import { commandHelp, programHelp } from "./help.ts";

/** Texts of the program itself, besides its commands' answers. */
export interface Program {
  readonly commands: readonly Command[];
  readonly version: string;
}

/** Runs the command line and answers the exit code. It never rejects: each error becomes lines of stderr. */
export async function runProgram(program: Program, args: readonly string[], output: Output): Promise<ExitCode> {
  try {
    return await run(program, args, output);
  } catch (error) {
    output.warn(`plexus-delegate: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof CommandError ? error.code : exitCode.defect;
  }
}

async function run({ commands, version }: Program, args: readonly string[], output: Output): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") {
    output.say(programHelp(commands).trimEnd());
    return exitCode.success;
  }
  if (name === "--version") {
    output.say(version);
    return exitCode.success;
  }
  if (name === undefined) throw new CommandError("a command is missing (plexus-delegate --help lists them)", exitCode.usage);
  const command = commands.find((each) => each.name === name);
  if (command === undefined) {
    const names = commands.map((each) => each.name);
    throw new CommandError(`${unknown("command", name, name, names)} (plexus-delegate --help)`, exitCode.usage);
  }
  const end = rest.indexOf("--");
  if ((end === -1 ? rest : rest.slice(0, end)).some((each) => each === "--help" || each === "-h")) {
    output.say(commandHelp(command).trimEnd());
    return exitCode.success;
  }
  return command.run(readCommandLine(command, rest), output);
}
