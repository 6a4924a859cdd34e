// Every command of the table keeps the rules of the command line.

import { expect, test } from "vitest";
import { commandHelp, programHelp } from "../../../../src/command-line/help-text.ts";
import { optionsOf } from "../../../../src/command-line/command-spec.ts";
import { topNames } from "../../../../src/command-line/read-command-line.ts";
import { exitStatuses } from "../../../node/command-line/exit-statuses.ts";
import { runCommandLine } from "../run-command-line.ts";
import { allCommands, plexusctlWith } from "./all-commands.ts";

const commands = await allCommands();
const plexusctl = plexusctlWith(commands);
const byName = commands.map((command) => [command.name, command] as const);

test("no two commands have one name, and no command is a group", () => {
  const names = commands.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => names.some((other) => other.startsWith(`${name} `)))).toEqual([]);
});

test("the help names all commands and exit statuses in 80 columns", async () => {
  const { stdout, status } = await runCommandLine(["--help"], false);
  expect([status, stdout]).toEqual([0, programHelp(plexusctl)]);
  for (const { name } of commands) expect(stdout).toContain(`  ${name}`);
  for (const each of Object.keys(exitStatuses)) expect(stdout).toMatch(new RegExp(`^  ${each}  `, "m"));
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test.each(byName.filter(([, { isForeign }]) => isForeign !== true))(
  "E-21: %s --help has its options in 80 columns",
  async (name, command) => {
    const { stdout, status, stderr } = await runCommandLine([...name.split(" "), "--help"], false);
    expect([status, stderr, stdout]).toEqual([0, undefined, commandHelp(plexusctl, command)]);
    for (const option of optionsOf(command)) expect(stdout).toContain(`--${option.name}`);
    expect(stdout.split("\n").filter((line) => line.length > 80 && line.trim().includes(" "))).toEqual([]);
    const names = optionsOf(command).flatMap((option) => [option.name, ...(option.short === undefined ? [] : [option.short])]);
    expect(new Set(names).size).toBe(names.length);
  },
);

test.each(byName.filter(([, { forms }]) => forms !== undefined))(
  "%s: -o has table or yaml first, and json and name",
  (_name, command) => {
    const { forms = [], names } = command;
    expect(forms).toEqual(expect.arrayContaining(["json", "yaml", "wide", "name"]));
    expect(names).toBeTruthy();
  },
);

test.each(topNames(commands))("E-21: a mistyped %s ends with status 2, also with --help", async (name) => {
  const typo = `${name}x`;
  for (const args of [[typo], [typo, "--help"], ["help", typo]]) {
    const { stdout, stderr, status } = await runCommandLine(args, false);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`did you mean ${name}`);
  }
});

test.each(byName.filter(([, { isForeign }]) => isForeign !== true))(
  "E-21: %s refuses an unknown option with the nearest names",
  async (name) => {
    const { stdout, stderr, status } = await runCommandLine([...name.split(" "), "--no-colour"], false);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^unknown option --no-colour; did you mean --no-color/);
  },
);
