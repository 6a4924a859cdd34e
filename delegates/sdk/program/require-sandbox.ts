// The Node release that the sandbox needs.

import { CommandError, exitCode } from "./command.ts";

/** The least major release of Node whose V8 runs the sandbox. */
const least = 20;

/** Throws a CommandError of code `machine` on an older Node. */
export function requireSandbox(): void {
  if (Number.parseInt(process.versions.node, 10) >= least) return;
  throw new CommandError(
    `the sandbox needs Node ${least} or newer; this is ${process.versions.node}. To do: npm install --save-dev node@26`,
    exitCode.machine,
  );
}
