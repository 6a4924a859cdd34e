// Commands about plexusctl itself and its errors.

import { completionScript, type Shell, shells } from "../../../../src/command-line/complete.ts";
import { catalogue } from "../../../../src/fault/catalogue.ts";
import type { Command } from "../../../node/command-line/command.ts";

/** The commands. */
export const helpCommands: readonly Command[] = [
  {
    name: "errors",
    summary: "shows meaning and remedy of an error, or lists all errors",
    synopsis: "[KIND or CODE]",
    count: [0, 1],
    completes: Object.keys(catalogue),
    options: [],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each kind",
    attention: "not used",
    run: async (line) => (await import("../errors-text.ts")).errorsCommand(line),
  },
  {
    name: "completion",
    summary: "prints the script with which a shell completes commands and options",
    synopsis: "bash|zsh|fish",
    count: [1, 1],
    completes: [...shells],
    details:
      'bash: eval "$(plexusctl completion bash)". zsh, after compinit: source <(plexusctl completion zsh). fish: plexusctl completion fish | source.',
    options: [],
    attention: "not used",
    run: async (line) => {
      const shell = shells.find((each): each is Shell => each === line.args[0]);
      if (shell === undefined) return { wrong: `completion ${line.args[0]}: must be one of ${shells.join(", ")}` };
      return { stdout: completionScript("plexusctl", shell), status: 0 };
    },
  },
  {
    name: "version",
    summary: "shows the installed version",
    options: [],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the version",
    attention: "not used",
    run: async (line) => (await import("../version-command.ts")).versionCommand(line),
  },
];
