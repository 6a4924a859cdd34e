// The exit statuses of plexusctl: the help, the reference page and the types of the commands come from this table.

/** Each status and its meaning. */
export const exitStatuses = {
  0: "done, and no action is needed",
  1: "an administrator has to act: the command failed or was refused, or it reports something that needs attention",
  2: "a mistake in the command line; nothing was done",
  3: "delegate only: this machine lacks a requirement, such as the kit or a newer Node",
} as const;

/** An exit status. */
export type ExitStatus = keyof typeof exitStatuses;
