// The help texts of `plexus-delegate` and of its commands.

import type { Command } from "./command.ts";

/** The program's help. */
export function programHelp(commands: readonly Command[]): string {
  return `plexus-delegate COMMAND [ARGUMENTS]: makes, builds and tests delegates of Plexus

Commands:
${columns(commands.map(({ name, summary }) => [name, summary]))}

plexus-delegate COMMAND --help explains a command; --version prints the kit's version.

Exit codes:
  0  success
  1  the delegate has a defect: it does not build, a vector fails, a node would refuse it
  2  the command line has a mistake
  3  the machine lacks a requirement, such as a newer Node

NO_COLOR=1 switches colours off.
`;
}

/** A command's help. */
export function commandHelp({ name, summary, usage, details, options }: Command): string {
  const rows = options.map(({ name: option, short, value, about }): [string, string] => [
    `${short === undefined ? "" : `-${short}, `}--${option}${value === undefined ? "" : `=${value}`}`,
    about,
  ]);
  return [
    `plexus-delegate ${name} ${usage}`.trimEnd(),
    `\n${summary}.`,
    ...(details === undefined ? [] : [`\n${details}`]),
    ...(rows.length === 0 ? [] : [`\nOptions:\n${columns(rows)}`]),
    "",
  ].join("\n");
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
