// The entry of `npm create plexus-delegate NAME`: `plexus-delegate new` as a package without dependencies.

import { version } from "../../../host/system/version.ts";
import { newCommand } from "../program/new.ts";
import { runProgram } from "../program/run-program.ts";

const args = process.argv.slice(2);
const [first] = args;
const own = first === "--version" ? [first] : [newCommand.name, ...args];
process.exitCode = await runProgram({ commands: [newCommand], version }, own, {
  say: (line) => void process.stdout.write(`${line}\n`),
  warn: (line) => void process.stderr.write(`${line}\n`),
  colour: false,
});
