// The reference page of a program's commands, in Markdown.

import { type CommandSpec, commonOptions, optionsOf } from "./command-spec.ts";
import { aboutText, capitalised, optionText, type ProgramSpec } from "./help-text.ts";

/** The commands' sections and the table of exit statuses. */
export function referenceSections(program: ProgramSpec): string {
  const { statuses, commands } = program;
  return `## Exit status

| status | meaning |
|---|---|
${statuses.map(([status, meaning]) => `| ${status} | ${escaped(meaning)} |`).join("\n")}

## Options of every command

${optionTable(commonOptions)}

## Commands

| command | |
|---|---|
${commands.map(({ name, summary }) => `| [\`${name}\`](#${anchorOf(program.name, name)}) | ${escaped(summary)} |`).join("\n")}

${commands.map((command) => section(program.name, command)).join("\n\n")}
`;
}

function section(program: string, command: CommandSpec): string {
  const { name, synopsis = "", summary, details, attention } = command;
  const common = new Set(commonOptions.map((option) => option.name));
  const options = command.isForeign === true ? [] : optionsOf(command).filter((option) => !common.has(option.name));
  return [
    `### ${program} ${name}`,
    `\`\`\`sh\n${`${program} ${name} ${synopsis}`.trimEnd()}\n\`\`\``,
    `${capitalised(summary)}.${details === undefined ? "" : ` ${escaped(details.replaceAll("\n", " "))}`}`,
    ...(options.length === 0 ? [] : [optionTable(options)]),
    `Exit status 1: ${escaped(attention)}.`,
  ].join("\n\n");
}

function optionTable(options: CommandSpec["options"]): string {
  const rows = options.map((option) => `| \`${optionText(option).replaceAll("|", "\\|")}\` | ${escaped(aboutText(option))} |`);
  return ["| option | |", "|---|---|", ...rows].join("\n");
}

/** The anchor that renderers of Markdown give a heading. */
function anchorOf(program: string, name: string): string {
  return `${program} ${name}`
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
