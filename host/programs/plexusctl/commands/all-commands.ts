// plexusctl's commands. Dispatch, help, completion and docs/reference/plexusctl.md come from this table.

import { features } from "../../../../features/list.ts";
import type { CommandSpec } from "../../../../src/command-line/command-spec.ts";
import type { ProgramSpec } from "../../../../src/command-line/help-text.ts";
import type { Command } from "../../../node/command-line/command.ts";
import { exitStatuses } from "../../../node/command-line/exit-statuses.ts";
import { delegateCommands } from "./delegate-commands.ts";
import { finalizerCommands } from "./finalizer-commands.ts";
import { helpCommands } from "./help-commands.ts";
import { installationCommands } from "./installation-commands.ts";
import { networkCommands } from "./network-commands.ts";
import { nodeCommands } from "./node-commands.ts";

/** All commands, in the order of the help. */
export async function allCommands(): Promise<readonly Command[]> {
  const ofFeatures = await Promise.all(features.map(({ commands }) => commands?.() ?? []));
  return [
    ...nodeCommands,
    ...networkCommands,
    ...ofFeatures.flat(),
    ...finalizerCommands,
    ...delegateCommands,
    ...installationCommands,
    ...helpCommands,
  ];
}

/** plexusctl with these commands. */
export function plexusctlWith(commands: readonly CommandSpec[]): ProgramSpec {
  return {
    name: "plexusctl",
    summary: "shows and manages Plexus on this node",
    commands,
    statuses: Object.entries(exitStatuses),
  };
}
