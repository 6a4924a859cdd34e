// Runs one command line of plexusctl.

import { completeCommand, offerFor, offerText } from "../../../src/command-line/complete.ts";
import { commandHelp, groupHelp, programHelp } from "../../../src/command-line/help-text.ts";
import { type CommandLineMistake, findCommand, readCommandLine } from "../../../src/command-line/read-command-line.ts";
import type { CommandResult } from "../../node/command-line/command.ts";
import { commands, plexusctl } from "./commands/all-commands.ts";

/** Runs the arguments after the program's name. `mayColour`: whether stdout may have colours. Rejects for defects only. */
export async function runCommandLine(args: readonly string[], mayColour: boolean): Promise<CommandResult> {
  if (args[0] === completeCommand) return answer(offerText(offerFor(commands, args.slice(1))));
  const found = findCommand(commands, args[0] === "--version" ? ["version", ...args.slice(1)] : args);
  if ("wrong" in found) return mistake(found.wrong, "plexusctl --help lists the commands");
  if ("help" in found) return answer(helpFor(found.help));
  const { command, rest } = found;
  if (command.isForeign === true) return resultOf(await command.run({ ...noOptions, args: rest, colour: mayColour }), "");
  const help = `plexusctl ${command.name} --help lists its options`;
  const line = readCommandLine(command, rest);
  if ("wrong" in line) return mistake(line.wrong, help);
  const result = await command.run({ ...line, colour: mayColour && !line.flags.has("no-color") });
  return resultOf(result, help);
}

const noOptions = { flags: new Set<string>(), values: new Map<string, readonly string[]>(), output: "table" } as const;

function resultOf(result: CommandResult | CommandLineMistake, help: string): CommandResult {
  return "wrong" in result ? mistake(result.wrong, help) : result;
}

function helpFor(wanted: (typeof commands)[number] | string | undefined): string {
  if (wanted === undefined) return programHelp(plexusctl);
  return typeof wanted === "string" ? groupHelp(plexusctl, wanted) : commandHelp(plexusctl, wanted);
}

function answer(stdout: string): CommandResult {
  return { stdout, status: 0 };
}

function mistake(message: string, help: string): CommandResult {
  return { stdout: "", stderr: `${message} (${help})`, status: 2 };
}
