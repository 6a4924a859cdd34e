// plexusctl version.

import { version } from "../../system/version.ts";
import type { CommandResult, Invocation } from "../../node/command-line/command.ts";
import { printed } from "../../node/command-line/printed.ts";

/** Prints the installed version. */
export async function versionCommand(line: Invocation): Promise<CommandResult> {
  const printable = { value: { version }, text: () => `${version}\n`, names: () => [version] };
  return { stdout: await printed(printable, line), status: 0 };
}
