// The entry of the program `plexus-delegate`.

import { spawnSync } from "node:child_process";
import { commands } from "./commands.ts";
import { endOnStdoutError } from "./end-on-stdout-error.ts";
import { newerNode, runsSandbox } from "./newer-node.ts";
import { runInTerminal } from "./run-in-terminal.ts";

endOnStdoutError();
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
