// The table of commands, in the order of `plexus-delegate --help`.

import { buildCommand } from "./build.ts";
import type { Command } from "./command.ts";
import { fmtVectorsCommand } from "./fmt-vectors.ts";
import { newCommand } from "./new.ts";
import { testCommand } from "./test.ts";

/** All commands. */
export const commands: readonly Command[] = [newCommand, buildCommand, testCommand, fmtVectorsCommand];
