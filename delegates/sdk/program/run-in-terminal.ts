// Runs a command line with the streams of this process.

import { version } from "../../../host/system/version.ts";
import type { Command } from "./command.ts";
import { runProgram } from "./run-program.ts";

/** Runs the arguments of this process and sets its exit code. Rejects never. */
export async function runInTerminal(commands: readonly Command[]): Promise<void> {
  process.exitCode = await runProgram({ commands, version }, process.argv.slice(2), {
    say: (line) => void process.stdout.write(`${line}\n`),
    warn: (line) => void process.stderr.write(`${line}\n`),
    colour: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  });
}
