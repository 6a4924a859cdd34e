// The commands that need the sandbox and nothing else of the kit. `plexusctl delegate` has them without the kit.

import { annotateCommand } from "./annotate.ts";
import { benchCommand } from "./bench.ts";
import type { Command } from "./command.ts";
import { inspectCommand } from "./inspect.ts";
import { runCommand } from "./run.ts";

/** The commands. */
export const sandboxCommands: readonly Command[] = [annotateCommand, inspectCommand, runCommand, benchCommand];
