// The table of commands, in the order of `plexus-delegate --help`.

import { annotateCommand } from "./annotate.ts";
import { benchCommand } from "./bench.ts";
import { buildCommand } from "./build.ts";
import type { Command } from "./command.ts";
import { conformanceCommand } from "./conformance.ts";
import { fmtVectorsCommand } from "./fmt-vectors.ts";
import { inspectCommand } from "./inspect.ts";
import { newCommand } from "./new.ts";
import { portCommand } from "./port.ts";
import { runCommand } from "./run.ts";
import { testCommand } from "./test.ts";

/** All commands. */
export const commands: readonly Command[] = [
  newCommand,
  buildCommand,
  annotateCommand,
  inspectCommand,
  runCommand,
  testCommand,
  benchCommand,
  conformanceCommand,
  fmtVectorsCommand,
  portCommand,
];
