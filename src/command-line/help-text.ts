// The help texts of a program and of its commands, wrapped to 80 columns.

import { wrap } from "../text/wrap.ts";
import { type CommandSpec, type OptionSpec, optionsOf } from "./command-spec.ts";

const columns = 80;
const indent = "  ";
const maxLeft = 28;

/** A program, for its help. */
export interface ProgramSpec {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandSpec[];
  /** The lines of the exit statuses: number and meaning. */
  readonly statuses: readonly (readonly [status: string, meaning: string])[];
}

/** All commands. */
export function programHelp({ name, summary, commands, statuses }: ProgramSpec): string {
  const rows = commands.map(({ name: each, synopsis = "", summary: about }) => [`${each} ${synopsis}`.trimEnd(), about] as const);
  return `${[
    ...wrap(`${name}: ${summary}`, columns),
    "",
    ...pairs(rows),
    "",
    `${name} COMMAND --help  options and exit status of a command`,
    `${name} GROUP --help    the commands of a group, such as component`,
    "",
    "Exit status:",
    ...pairs(statuses),
  ].join("\n")}\n`;
}

/** The commands of a group such as `component`. */
export function groupHelp({ name, commands }: ProgramSpec, group: string): string {
  const found = commands.filter((command) => command.name.startsWith(`${group} `));
  const rows = found.map(({ name: each, synopsis = "", summary }) => [`${each} ${synopsis}`.trimEnd(), summary] as const);
  return `${[`${name} ${group} COMMAND`, "", ...pairs(rows), "", `${name} ${group} COMMAND --help  options of a command`].join("\n")}\n`;
}

/** One command. */
export function commandHelp(program: ProgramSpec, command: CommandSpec): string {
  const { name, synopsis = "", summary, details, attention } = command;
  return `${[
    `${program.name} ${name} ${synopsis}`.trimEnd(),
    "",
    ...wrap(`${capitalised(summary)}.`, columns),
    ...(details === undefined ? [] : ["", ...details.split("\n").flatMap((line) => wrap(line, columns))]),
    "",
    ...(command.isForeign === true ? [] : pairs(optionsOf(command).map((option) => [optionText(option), aboutText(option)]))),
    "",
    ...wrap(`Exit status: 0: done. 1: ${attention}. 2: a mistake in the command line.`, columns),
  ].join("\n")}\n`;
}

/** `-o, --output FORM`. */
export function optionText({ name, short, value }: OptionSpec): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

/** The option's sentence with its usual value and its repetition. */
export function aboutText({ about, usual, repeats }: OptionSpec): string {
  const notes = [...(usual === undefined ? [] : [usual]), ...(repeats === true ? ["may be repeated"] : [])];
  return notes.length === 0 ? about : `${about} (${notes.join("; ")})`;
}

/** The text with a capital first letter. */
export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Two columns; a long left text has a line of its own. */
function pairs(rows: readonly (readonly [left: string, right: string])[]): readonly string[] {
  const fitting = rows.map(([left]) => left.length).filter((length) => length <= maxLeft);
  const width = Math.max(0, ...fitting);
  const lead = indent.length + width + 2;
  return rows.flatMap(([left, right]) => {
    const [first = "", ...more] = wrap(right, columns - lead);
    const rest = more.map((line) => " ".repeat(lead) + line);
    const start = left.length > width ? [indent + left, " ".repeat(lead) + first] : [`${indent}${left.padEnd(width)}  ${first}`];
    return [...start.map((line) => line.trimEnd()), ...rest];
  });
}
