// Commands with a command line of their own. Each is imported only when it runs.

import type { CommandResult } from "./commands.ts";

/** Runs a command with the arguments after its name. Never rejects for an error that the administrator can correct. */
export type StandaloneCommand = (args: readonly string[]) => Promise<CommandResult>;

/** The commands by their names on the command line. Each has `--help`. */
export const standaloneCommands: Readonly<Record<string, StandaloneCommand>> = {
  configure: async (args) => (await import("./configure.ts")).configureCommand(args),
  install: async (args) => (await import("./install.ts")).installCommand(args),
  component: async (args) => (await import("./component/run-component.ts")).runComponent(args),
  migrate: async (args) => (await import("./migrate.ts")).migrateCommand(args),
  sysdump: async (args) => (await import("./sysdump.ts")).sysdumpCommand(args),
};
