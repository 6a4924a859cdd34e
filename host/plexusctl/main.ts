// plexusctl: tells an administrator what Plexus does on this node, with a daemon and without.

import { inertLine } from "../sandbox/inert-text.ts";
import { commands } from "./commands.ts";
import { readOptions, usage } from "./options.ts";

/** Units of a line about a mistake. */
const longestLine = 512;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(usage);
    return;
  }
  if ("wrong" in options) return wrong(options.wrong);
  const command = Object.hasOwn(commands, options.command) ? commands[options.command] : undefined;
  if (command === undefined) return wrong(`unknown command ${options.command}`);
  const { stdout, stderr, status } = await command(options);
  process.stdout.write(stdout);
  if (stderr !== undefined) process.stderr.write(`plexusctl: ${inertLine(stderr, longestLine)}\n`);
  process.exitCode = status;
}

function wrong(what: string): void {
  process.stderr.write(`plexusctl: ${inertLine(what, longestLine)} (--help says what there is)\n`);
  process.exitCode = 2;
}

// Whoever reads our words may have seen enough (`| head`).
process.stdout.on("error", () => process.exit());
void main();
