// The entry of the program `plexus-delegate`.

import { spawnSync } from "node:child_process";
import { commands } from "./commands.ts";
import { newerNode, runsSandbox } from "./newer-node.ts";
import { runInTerminal } from "./run-in-terminal.ts";

// A reader may close the pipe early (`| head`): EPIPE is no error.
process.stdout.on("error", () => process.exit());
const node = runsSandbox() ? undefined : newerNode();
if (node === undefined) {
  await runInTerminal(commands);
} else {
  // Not execa, which needs Node 22.
  const [, program = "", ...args] = process.argv;
  const { status, error } = spawnSync(node, ["--disable-warning=ExperimentalWarning", program, ...args], { stdio: "inherit" });
  if (error !== undefined) process.stderr.write(`plexus-delegate: ${node} does not start: ${error.message}\n`);
  process.exitCode = status ?? 3;
}
