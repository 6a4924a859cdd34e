// The entry of the program `plexus-delegate`.

import { version } from "../../../host/system/version.ts";
import { commands } from "./commands.ts";
import { runProgram } from "./run-program.ts";

// A reader may close the pipe early (`| head`): EPIPE is no error.
process.stdout.on("error", () => process.exit());
process.exitCode = await runProgram({ commands, version }, process.argv.slice(2), {
  say: (line) => void process.stdout.write(`${line}\n`),
  warn: (line) => void process.stderr.write(`${line}\n`),
  colour: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
});
