// The entry of the program `plexus-delegate`.

import { spawnSync } from "node:child_process";
import { version } from "../../../host/system/version.ts";
import { commands } from "./commands.ts";
import { newerNode, runsSandbox } from "./newer-node.ts";
import { runProgram } from "./run-program.ts";

// A reader may close the pipe early (`| head`): EPIPE is no error.
process.stdout.on("error", () => process.exit());
const args = process.argv.slice(2);
const node = runsSandbox() ? undefined : newerNode();
if (node === undefined) {
  process.exitCode = await runProgram({ commands, version }, args, {
    say: (line) => void process.stdout.write(`${line}\n`),
    warn: (line) => void process.stderr.write(`${line}\n`),
    colour: process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "",
  });
} else {
  // Not execa, which needs Node 22.
  const [, program = ""] = process.argv;
  const { status, error } = spawnSync(node, ["--disable-warning=ExperimentalWarning", program, ...args], { stdio: "inherit" });
  if (error !== undefined) process.stderr.write(`plexus-delegate: ${node} does not start: ${error.message}\n`);
  process.exitCode = status ?? 3;
}
