// Runs one command line of plexusctl.

import { completeCommand, offerFor, offerText } from "../../../src/command-line/complete.ts";
import type { CommandSpec } from "../../../src/command-line/command-spec.ts";
import { commandHelp, groupHelp, programHelp, type ProgramSpec } from "../../../src/command-line/help-text.ts";
import {
  type CommandLine,
  type CommandLineMistake,
  findCommand,
  readCommandLine,
} from "../../../src/command-line/read-command-line.ts";
import type { CommandResult, Invocation } from "../../node/command-line/command.ts";
import { allCommands, plexusctlWith } from "./commands/all-commands.ts";

/** Runs the arguments after the program's name. `mayColour`: whether stdout may have colours. Rejects for defects only. */
export async function runCommandLine(args: readonly string[], mayColour: boolean): Promise<CommandResult> {
  const commands = await allCommands();
  if (args[0] === completeCommand) return answer(offerText(offerFor(commands, args.slice(1))));
  const found = findCommand(commands, args[0] === "--version" ? ["version", ...args.slice(1)] : args);
  if ("wrong" in found) return mistake(found.wrong, "plexusctl --help lists the commands");
  if ("help" in found) return answer(helpFor(plexusctlWith(commands), found.help));
  const { command, rest } = found;
  if (command.isForeign === true) return resultOf(await command.run(invocation({ ...noOptions, args: rest }, mayColour)), "");
  const help = `plexusctl ${command.name} --help lists its options`;
  const line = readCommandLine(command, rest);
  if ("wrong" in line) return mistake(line.wrong, help);
  const result = await command.run(invocation(line, mayColour && !line.flags.has("no-color")));
  return resultOf(result, help);
}

function invocation(line: CommandLine, colour: boolean): Invocation {
  // Loaded late: most commands need no cluster.
  const credentials: Invocation["credentials"] = async () =>
    (await import("./cluster-access/access-options.ts")).credentialsOf(line);
  return { ...line, colour, credentials };
}

const noOptions = { flags: new Set<string>(), values: new Map<string, readonly string[]>(), output: "table" } as const;

function resultOf(result: CommandResult | CommandLineMistake, help: string): CommandResult {
  return "wrong" in result ? mistake(result.wrong, help) : result;
}

function helpFor(plexusctl: ProgramSpec, wanted: CommandSpec | string | undefined): string {
  if (wanted === undefined) return programHelp(plexusctl);
  return typeof wanted === "string" ? groupHelp(plexusctl, wanted) : commandHelp(plexusctl, wanted);
}

function answer(stdout: string): CommandResult {
  return { stdout, status: 0 };
}

function mistake(message: string, help: string): CommandResult {
  return { stdout: "", stderr: `${message} (${help})`, status: 2 };
}
