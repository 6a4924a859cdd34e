// plexusctl: the administrator's command on a node. It works with and without a daemon.

import { inertLine } from "../../../src/text/inert-text.ts";
import { mayColour } from "../../node/command-line/colours.ts";
import { endOnStdoutError } from "../../node/command-line/end-on-stdout-error.ts";
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
endOnStdoutError("plexusctl");
void main();
