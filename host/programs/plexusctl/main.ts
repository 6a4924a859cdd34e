// plexusctl: the administrator's command on a node. It works with and without a daemon.

import { inertLine } from "../../../src/text/inert-text.ts";
import { type CommandResult, commands, excessArgument } from "./commands.ts";
import { hideExperimentalWarnings } from "./experimental-warnings.ts";
import { readOptions, usage } from "./options.ts";
import { standaloneCommands } from "./standalone-commands.ts";

/** Maximum length of an error line, in UTF-16 units. */
const maxLine = 512;

async function main(): Promise<void> {
  const args = process.argv.slice(2).map((each, index) => (index === 0 && each === "--version" ? "version" : each));
  const [name = ""] = args;
  const standalone = Object.hasOwn(standaloneCommands, name) ? standaloneCommands[name] : undefined;
  if (standalone !== undefined) return print(await standalone(args.slice(1)));
  const options = readOptions(args);
  if (options === "help") {
    process.stdout.write(usage);
    return;
  }
  if ("wrong" in options) return failWith(options.wrong);
  const command = Object.hasOwn(commands, options.command) ? commands[options.command] : undefined;
  if (command === undefined) return failWith(`unknown command ${options.command}`);
  const excess = excessArgument(command, options);
  if (excess !== undefined) return failWith(excess);
  print(await command.run(options));
}

function print({ stdout, stderr, status }: CommandResult): void {
  process.stdout.write(stdout);
  if (stderr !== undefined) process.stderr.write(`plexusctl: ${inertLine(stderr, maxLine)}\n`);
  process.exitCode = status;
}

/** Reports a mistake in the command line. */
function failWith(message: string): void {
  process.stderr.write(`plexusctl: ${inertLine(message, maxLine)} (plexusctl --help lists commands and options)\n`);
  process.exitCode = 2;
}

hideExperimentalWarnings();
// A reader may close the pipe early (`| head`): EPIPE is no error.
process.stdout.on("error", () => process.exit());
void main();
