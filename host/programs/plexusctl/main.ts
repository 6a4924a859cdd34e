// plexusctl: the administrator's command on a node. It works with and without a daemon.

import { inertLine } from "../../../src/text/inert-text.ts";
import { mayColour } from "../../node/command-line/colours.ts";
import { hideExperimentalWarnings } from "./experimental-warnings.ts";
import { runCommandLine } from "./run-command-line.ts";

/** Maximum length of an error line, in UTF-16 units. */
const maxLine = 1024;

async function main(): Promise<void> {
  const colour = mayColour(process.stdout.isTTY, process.env);
  const { stdout, stderr, status } = await runCommandLine(process.argv.slice(2), colour);
  process.stdout.write(stdout);
  if (stderr !== undefined) process.stderr.write(`plexusctl: ${inertLine(stderr, maxLine)}\n`);
  process.exitCode = status;
}

hideExperimentalWarnings();
// A reader may close the pipe early (`| head`): EPIPE is no error.
process.stdout.on("error", () => process.exit());
void main();
