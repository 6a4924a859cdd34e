// plexusctl: the administrator's command on a node. It works with and without a daemon.

import { inertLine } from "../../../src/text/inert-text.ts";
import { commands, excessArgument } from "./commands.ts";
import { readOptions, usage } from "./options.ts";

/** Maximum length of an error line, in UTF-16 units. */
const maxLine = 512;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(usage);
    return;
  }
  if ("wrong" in options) return failWith(options.wrong);
  const command = Object.hasOwn(commands, options.command) ? commands[options.command] : undefined;
  if (command === undefined) return failWith(`unknown command ${options.command}`);
  const excess = excessArgument(command, options);
  if (excess !== undefined) return failWith(excess);
  const { stdout, stderr, status } = await command.run(options);
  process.stdout.write(stdout);
  if (stderr !== undefined) process.stderr.write(`plexusctl: ${inertLine(stderr, maxLine)}\n`);
  process.exitCode = status;
}

/** Reports a mistake in the command line. */
function failWith(message: string): void {
  process.stderr.write(`plexusctl: ${inertLine(message, maxLine)} (plexusctl --help lists commands and options)\n`);
  process.exitCode = 2;
}

// A reader may close the pipe early (`| head`): EPIPE is no error.
process.stdout.on("error", () => process.exit());
void main();
